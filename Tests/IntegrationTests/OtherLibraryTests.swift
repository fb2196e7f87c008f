import Foundation
import Testing

/// The process finds the symbols of another SQLite first, as in a program that links plain libsqlite3.
@Suite("A process with plain SQLite in front", .enabled(if: plainSQLite != nil))
struct OtherLibraryTests {
    @Test("is refused before anything is written in clear")
    func plain() async throws {
        let scratch = try Scratch()
        let path = scratch.path("new.sqlite")
        let program = try Program(built: "strongroom", "create", path, "--passphrase-file", try scratch.secret("one"))
        var preloaded = try Program("env", "LD_PRELOAD=\(plainSQLite ?? "")", program.executable.path)
        preloaded.arguments += program.arguments
        let outcome = try await preloaded.run()
        #expect(outcome.status != 0)
        #expect(outcome.errors.contains("isn't SQLCipher"))
        let written = FileManager.default.contents(atPath: path) ?? Data()
        #expect(written.isEmpty)
    }
}

private let plainSQLite: String? = ["x86_64", "aarch64"]
    .map { "/lib/\($0)-linux-gnu/libsqlite3.so.0" }.first { FileManager.default.fileExists(atPath: $0) }
