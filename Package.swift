// swift-tools-version: 6.1

import CompilerPluginSupport
import PackageDescription

/// Publishers on Linux.
let openCombine: [Target.Dependency] = ["OpenCombine", "OpenCombineDispatch"].map {
    .product(name: $0, package: "OpenCombine", condition: .when(traits: ["OpenCombine"]))
}

/// The parts of swift-syntax that the macros need. Without the trait, it is neither fetched nor built.
let swiftSyntax: [Target.Dependency] = [
    "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftSyntax", "SwiftSyntaxBuilder", "SwiftSyntaxMacros",
].map {
    .product(name: $0, package: "swift-syntax", condition: .when(traits: ["Macros"]))
}

/// The server ecosystem. Without the traits, none of it is fetched or built.
let servers: [Target.Dependency] = [
    .product(
        name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: .when(traits: ["ServiceLifecycle"])),
    .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
    .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
]

let package = Package(
    name: "Strongroom",
    platforms: [.iOS(.v15), .macOS(.v12), .tvOS(.v15), .watchOS(.v8)],
    products: [
        .library(name: "Strongroom", targets: ["Strongroom"]),
        // Replication without a key, which needs libcurl. Nothing else does, but for the command line.
        .library(name: "StrongroomReplica", targets: ["StrongroomReplica"]),
        // The raw sqlite3_* calls, sqlite3_key and sqlite3_rekey included.
        .library(name: "CSQLCipher", targets: ["CSQLCipher"]),
        .executable(name: "strongroom", targets: ["StrongroomCLI"]),
    ],
    traits: [
        .trait(name: "OpenCombine", description: "Database publishers where Apple's Combine is absent."),
        .trait(name: "Macros", description: "Records whose code @DatabaseRecord writes."),
        .trait(name: "ServiceLifecycle", description: "DatabaseService as a service of swift-service-lifecycle."),
        .trait(name: "Metrics", description: "Figures of a database for swift-metrics."),
        .trait(name: "Tracing", description: "Spans of accesses for swift-distributed-tracing."),
    ],
    dependencies: [
        // SQLCipher's log lines and ours go where the application sends its logs.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // The command line only.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        // Publishers on Linux; the trait keeps it away from everyone else.
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        // Generated records; the trait keeps it away from everyone else.
        .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.0"..<"604.0.0"),
        // Servers; the traits keep them away from everyone else.
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CSQLCipher",
            path: "Shim/CSQLCipher",
            pkgConfig: "sqlcipher",
            providers: [.apt(["libsqlcipher-dev"]), .brew(["sqlcipher"])]),
        .target(
            name: "CStrongroom",
            dependencies: ["CSQLCipher"],
            path: "Shim/CStrongroom",
            linkerSettings: [.linkedLibrary("crypto", .when(platforms: [.linux]))]),
        // For tests only: faults of files, calls and memory.
        .target(name: "CStrongroomFaults", dependencies: ["CSQLCipher"], path: "Shim/CStrongroomFaults"),
        .target(
            name: "Strongroom",
            dependencies: [
                "CSQLCipher",
                "CStrongroom",
                .target(name: "StrongroomMacros", condition: .when(traits: ["Macros"])),
                .product(name: "Logging", package: "swift-log"),
            ] + openCombine + servers,
            // An asynchronous access begins on its caller's actor: see `awaitAccess`. Swift 6.1 ignores it.
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        // An empty program without the trait.
        .macro(name: "StrongroomMacros", dependencies: swiftSyntax),
        .target(
            name: "CStrongroomReplica",
            dependencies: ["CSQLCipher"],
            path: "Shim/CStrongroomReplica",
            linkerSettings: [.linkedLibrary("crypto"), .linkedLibrary("curl")]),
        .target(
            name: "StrongroomReplica",
            dependencies: ["CSQLCipher", "CStrongroom", "CStrongroomReplica"]),
        // Lines typed in the shell of the command line, edited by libedit, which is a part of Apple's systems.
        .target(
            name: "CStrongroomLine", path: "Shim/CStrongroomLine", linkerSettings: [.linkedLibrary("edit")]),
        .executableTarget(
            name: "StrongroomCLI",
            dependencies: [
                "Strongroom",
                "CStrongroomLine",
                "StrongroomReplica",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(
            name: "StrongroomTests",
            dependencies: [
                "Strongroom", "CSQLCipher", "CStrongroomFaults", "TestSupport",
            ] + openCombine),
        .testTarget(
            name: "StrongroomReplicaTests",
            dependencies: ["StrongroomReplica", "CStrongroomReplica", "CSQLCipher", "ReplicaWorkload"]),
        // A replicator, a writer or a restore in a process of its own, for the tests that kill it.
        .executableTarget(
            name: "ReplicaWorkload", dependencies: ["StrongroomReplica", "CSQLCipher"], path: "Tests/ReplicaWorkload"),
        // A program at work, for scripts/demo and its tests; not a product.
        .executableTarget(name: "DemoWorkload", dependencies: ["Strongroom"], path: "Tests/DemoWorkload"),
        // One of several processes that share a database, for their tests.
        .executableTarget(name: "SharingWorkload", dependencies: ["Strongroom"], path: "Tests/SharingWorkload"),
        // An application as the README tells one to write it, for its tests.
        .executableTarget(name: "NotesApp", dependencies: ["Strongroom"], path: "Tests/NotesApp"),
        // What tests and campaigns share: folders, random numbers, the stock shell, the two forms of exhaustive suites.
        .target(name: "TestSupport", path: "Tests/TestSupport"),
        // Cases of failing calls, power cuts, kills and other faults, for scripts/campaign and its tests.
        .executableTarget(
            name: "Campaigns",
            dependencies: [
                "Strongroom", "CSQLCipher", "CStrongroomFaults", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Campaigns"),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Strongroom", "CSQLCipher", "CStrongroomFaults", "StrongroomCLI", "Campaigns", "DemoWorkload",
                "SharingWorkload", "NotesApp", "TestSupport",
            ]),
    ],
    swiftLanguageModes: [.v6]
)
