// swift-tools-version: 6.1

import PackageDescription

let package = Package(
    name: "Macros",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Strongroom", path: "../..", traits: ["Macros"])],
    targets: [
        .testTarget(
            name: "MacroTests", dependencies: [.product(name: "Strongroom", package: "Strongroom")], path: "Tests")
    ],
    swiftLanguageModes: [.v6]
)
