import Foundation
import TestSupport
import Testing

@Suite("A program that comes from GRDB", .enabled(if: SwiftCompiler.isAvailable, "there is no swiftc"))
struct MovingTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    /// The code of the guide for moving, by the name of the file above it.
    private func sample(_ file: String) throws -> String {
        let guide = Program.packageFolder.appendingPathComponent("Sources/Strongroom/Strongroom.docc/MovingFromGRDB.md")
        let parts = try String(contentsOf: guide, encoding: .utf8).components(separatedBy: "```")
        let heading = "swift\n// \(file)\n"
        return String(try #require(parts.first { $0.hasPrefix(heading) }).dropFirst(heading.count))
    }

    /// Makes a module out of a target of the guide.
    private func makeModule(_ name: String) async throws {
        try scratch.write(Data(sample("Sources/\(name)/\(name).swift").utf8), to: name + ".swift")
        let source = scratch.path(name + ".swift"), module = scratch.path(name + ".swiftmodule")
        #expect(
            try await SwiftCompiler.diagnostics(
                "-emit-module", "-module-name", name, "-emit-module-path", module, source) == "")
    }

    @Test("A program that comes from GRDB keeps its imports: targets of the guide stand for GRDB and for its SQLite")
    func imports() async throws {
        try await makeModule("GRDB")
        try await makeModule("GRDBSQLite")
        try scratch.write(
            Data(
                """
                import GRDB
                import GRDBSQLite

                struct Player: Codable, FetchableRecord, PersistableRecord {
                    var id: Int64
                    var name: String
                }

                func open(_ path: String, _ passphrase: String) throws -> GRDB.DatabasePool {
                    var configuration = GRDB.Configuration()
                    configuration.prepareDatabase { db in try db.usePassphrase(passphrase) }
                    let pool = try DatabasePool(path: path, configuration: configuration)
                    try pool.write { db in
                        try Player(id: 1, name: "Arthur").insert(db)
                        guard sqlite3_get_autocommit(db.sqliteConnection) == 0, SQLITE_OK == 0 else { return }
                        db.trace { (event: GRDB.Database.TraceEvent) in _ = event.description }
                    }
                    return pool
                }
                """.utf8), to: "app.swift")
        let app = scratch.path("app.swift")
        #expect(try await SwiftCompiler.diagnostics("-typecheck", "-I", scratch.path, app) == "")
    }

    @Test("A program that comes from GRDB writes a manifest that Swift reads")
    func manifest() async throws {
        try FileManager.default.createDirectory(atPath: scratch.path("Sources"), withIntermediateDirectories: false)
        let text = "// swift-tools-version: 6.1\n" + (try sample("Package.swift"))
        try scratch.write(Data(text.utf8), to: "Package.swift")
        let outcome = try await Program("swift", "package", "--package-path", scratch.path, "dump-package").run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        for word in ["GRDB", "GRDBSQLite", "CSQLCipher"] { #expect(outcome.output.contains("\"\(word)\"")) }
    }
}
