import Foundation
import TestSupport
import Testing

/// The process finds the symbols of another SQLite first, as in a program that links plain libsqlite3.
@Suite("A process with plain SQLite in front", .enabled(if: plainSQLite != nil, "libsqlite3.so.0 is not installed"))
struct OtherLibraryTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    /// Creates a database in a process that loads these libraries before all others.
    private func create(preloading libraries: [String]) async throws -> Outcome {
        let program = try Program(built: "strongroom").executable.path, key = try scratch.secret("one")
        let setting = "LD_PRELOAD=" + libraries.joined(separator: " "), path = scratch.path("new.sqlite")
        return try await Program("env", setting, program, "create", path, "--passphrase-file", key).run()
    }

    @Test("A process with SQLite first is refused before clear text is written, and the message names a remedy")
    func plain() async throws {
        let outcome = try await create(preloading: [plainSQLite!])
        #expect(outcome.status == 1)
        for words in [
            "isn't SQLCipher", "one SQLite", "link libsqlcipher before libsqlite3", "LD_PRELOAD=libsqlcipher.so",
            "nothing was changed",
        ] {
            #expect(outcome.errors.contains(words), "\(outcome.errors)")
        }
        #expect(try scratch.names() == ["secret"])
    }

    @Test("A process with SQLite first works with SQLCipher loaded before it, by the name that the message gives")
    func preloaded() async throws {
        let advice = try await create(preloading: [plainSQLite!]).errors
        let name = try #require(advice.firstMatch(of: /LD_PRELOAD=(libsqlcipher\.so\.\d)/)).output.1
        let outcome = try await create(preloading: [String(name), plainSQLite!])
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    @Test(
        "A process with SQLite first has the SQLite that was linked first",
        .enabled(if: canLink, "cc or libsqlite3-dev is missing"))
    func linkOrder() async throws {
        try scratch.write(
            Data(
                """
                #include <stdio.h>
                #include <sqlcipher/sqlite3.h>
                static int show(void *count, int columns, char **values, char **names) { ++*(int *)count; return 0; }
                int main(void) {
                    sqlite3 *db; int count = 0;
                    if (sqlite3_open(":memory:", &db)) return 2;
                    if (sqlite3_exec(db, "PRAGMA cipher_version", show, &count, 0)) return 3;
                    puts(count ? "SQLCipher" : "plain");
                    return sqlite3_close(db);
                }
                """.utf8), to: "which.c")
        let orders = [(["-lsqlcipher", "-lsqlite3"], "SQLCipher"), (["-lsqlite3", "-lsqlcipher"], "plain")]
        for (libraries, expected) in orders {
            var compiler = try Program("cc", scratch.path("which.c"), "-o", scratch.path("which"), "-Wl,--no-as-needed")
            compiler.arguments += libraries
            let built = try await compiler.run()
            #expect(built.status == 0, "\(built.errors)")
            // A library that is loaded before all others decides by itself.
            let which = try Program("env", "-u", "LD_PRELOAD", scratch.path("which"))
            #expect(try await which.run().output == expected + "\n")
        }
    }
}

private let plainSQLite: String? = ["x86_64", "aarch64"]
    .map { "/lib/\($0)-linux-gnu/libsqlite3.so.0" }.first { FileManager.default.fileExists(atPath: $0) }

private let canLink =
    plainSQLite.map { library in
        let linked = String(library.dropLast(2))
        return (try? Program("cc")) != nil && FileManager.default.fileExists(atPath: linked)
    } ?? false
