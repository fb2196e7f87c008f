// swift-tools-version: 6.1

import PackageDescription

let strongroom = Target.Dependency.product(name: "Strongroom", package: "Strongroom")

let package = Package(
    name: "NotesServer",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "Strongroom", path: "../..", traits: ["ServiceLifecycle", "Metrics", "Tracing"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.5.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
    ],
    targets: [
        // The database that the server and its worker share.
        .target(name: "Notes", dependencies: [strongroom], path: "Sources/Notes"),
        // JSON over HTTP, and the commits of the worker as server-sent events.
        .executableTarget(
            name: "NotesServer",
            dependencies: [
                "CNotes", "Notes", strongroom,
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        // A process of its own that writes to the same database.
        .executableTarget(
            name: "NotesWorker",
            dependencies: [
                "Notes", strongroom,
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]),
        // The same work in plain C, for the comparison of latencies.
        .target(name: "CNotes", dependencies: [.product(name: "CSQLCipher", package: "Strongroom")]),
        // Reads of one row with metrics and traces, and without them.
        .executableTarget(
            name: "InstrumentCost",
            dependencies: [
                strongroom,
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        .testTarget(
            name: "ServerTests",
            dependencies: [
                "Notes", "NotesServer", "NotesWorker", strongroom,
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            path: "Tests"),
    ],
    swiftLanguageModes: [.v6]
)
