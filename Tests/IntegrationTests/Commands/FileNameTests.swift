import Foundation
import TestSupport
import Testing

@Suite("A file whose name looks like a URI")
struct FileNameTests {
    @Test(
        "A file whose name looks like a URI is the file that a command works on",
        arguments: ["file:..%2fvictim%2fv.db", "file:v.db?mode=ro"])
    func rotate(name: String) async throws {
        let scratch = try TemporaryFolder()
        for folder in ["here", "victim"] {
            try FileManager.default.createDirectory(atPath: scratch.path(folder), withIntermediateDirectories: false)
        }
        let made = try await scratch.encryptedDatabase("made.db", passphrase: "old")
        for copy in ["here/" + name, "here/v.db", "victim/v.db"] {
            try FileManager.default.copyItem(atPath: made, toPath: scratch.path(copy))
        }
        let others = ["here/v.db", "victim/v.db"].map { URL(fileURLWithPath: scratch.path($0)) }
        let before = try others.map { try Data(contentsOf: $0) }
        let keys = try [scratch.secret("old", in: "old.key"), scratch.secret("new", in: "new.key")]
        let command = try Program(built: "strongroom").executable.path
        let outcome = try await Program(
            "sh", "-c",
            """
            cd "$1" && "$2" rotate "$3" --passphrase-file "$4" --new-passphrase-file "$5"
            """, "sh", scratch.path("here"), command, name, keys[0], keys[1]
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try others.map { try Data(contentsOf: $0) } == before)
        let rotated = StockShell(path: scratch.path("here/" + name), passphrase: "new")
        #expect(try await rotated.attempt(TemporaryFolder.sampleQuery).output == TemporaryFolder.sampleAnswer + "\n")
    }
}
