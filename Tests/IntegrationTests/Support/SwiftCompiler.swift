import Foundation

/// The compiler, with the modules that the tests are built with.
enum SwiftCompiler {
    static let isAvailable = (try? Program("swiftc")) != nil

    /// Returns its diagnostics in the Swift 6 language mode; an empty text where all is well.
    static func diagnostics(_ arguments: String...) async throws -> String {
        // The cache of modules knows them by one path only.
        let built = try Program.builtFolder().resolvingSymlinksInPath()
        let maps =
            try FileManager.default.contentsOfDirectory(atPath: built.path)
            .map { "\(built.path)/\($0)/module.modulemap" }
            .filter { FileManager.default.fileExists(atPath: $0) }
            + ["\(Program.packageFolder.path)/Shim/CSQLCipher/module.modulemap"]
        var compiler = try Program("swiftc", "-swift-version", "6", "-I", "\(built.path)/Modules")
        compiler.arguments += maps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        compiler.arguments += ["-module-cache-path", built.appendingPathComponent("ModuleCache").path] + arguments
        let outcome = try await compiler.run()
        return outcome.output + outcome.errors
    }
}
