// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Strongroom", path: "../.."),
        // The peer, as anyone would depend on it. It reaches SQLCipher under the name of the system's SQLite.
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // The memory of a process and the bare rates of the crypto library.
        .target(name: "CMachine", linkerSettings: [.linkedLibrary("crypto", .when(platforms: [.linux]))]),
        // The description of the work, for all three programs.
        .target(name: "Workload", dependencies: ["CMachine"]),
        // That work in plain C.
        .target(name: "CWork", dependencies: [.product(name: "CSQLCipher", package: "Strongroom")]),
        .executableTarget(name: "BenchC", dependencies: ["Workload", "CWork"]),
        .executableTarget(
            name: "BenchStrongroom",
            dependencies: [
                "Workload", .product(name: "Strongroom", package: "Strongroom"),
            ]),
        // The files of BenchStrongroom, by symbolic links, over another Engine.swift.
        .executableTarget(
            name: "BenchGRDB",
            dependencies: [
                "Workload", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // A day in the life of an application: one folder of sources, by symbolic links, over two files Engine.swift.
        .executableTarget(
            name: "LifeStrongroom",
            dependencies: [
                "Workload", "CMachine", .product(name: "Strongroom", package: "Strongroom"),
            ]),
        .executableTarget(
            name: "LifeGRDB",
            dependencies: [
                "Workload", "CMachine", .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // The smallest programs with a database.
        .executableTarget(
            name: "HelloStrongroom",
            dependencies: [
                .product(name: "Strongroom", package: "Strongroom")
            ]),
        .executableTarget(name: "HelloGRDB", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
        // Runs them in turn and compares.
        .executableTarget(name: "Bench", dependencies: ["Workload", "CMachine"]),
    ],
    swiftLanguageModes: [.v6]
)
