import Foundation
import TestSupport
import Testing

@Suite("scripts/demo")
struct DemoTests {
    let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    @Test("scripts/demo succeeds on a sound database, and lists its comparisons")
    func passes() async throws {
        let programs = try Program.builtFolder().path
        let outcome = try await Program(script: "demo", "--built", programs, try await scratch.clearDatabase()).run()
        #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains("2 tables, 302 rows: the same"))
        for name in ["anna", "bruno"] {
            #expect(outcome.output.contains("\(name) sees  stock sqlcipher shell: and good night"))
        }
        #expect(outcome.output.contains("All as it should be."))
    }

    @Test("scripts/demo fails when the command line only claims to have rotated the key")
    func lyingRotation() async throws {
        let programs = try impostor("[ \"$1\" != rotate ] || exit 0")
        let outcome = try await Program(script: "demo", "--built", programs, try await scratch.clearDatabase()).run()
        #expect(outcome.status == 1)
        #expect(!outcome.output.contains("All as it should be."))
    }

    @Test("scripts/demo fails when there is no such file")
    func absent() async throws {
        let programs = try Program.builtFolder().path
        let outcome = try await Program(script: "demo", "--built", programs, scratch.path("nowhere")).run()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("nowhere"))
    }

    /// A folder with programs of which `strongroom` runs `prelude` first.
    private func impostor(_ prelude: String) throws -> String {
        let programs = try Program.builtFolder()
        let folder = URL(fileURLWithPath: scratch.path("programs"))
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent("DemoWorkload"),
            withDestinationURL: programs.appendingPathComponent("DemoWorkload"))
        let script = "#!/bin/sh\n\(prelude)\nexec '\(programs.appendingPathComponent("strongroom").path)' \"$@\"\n"
        let file = folder.appendingPathComponent("strongroom")
        try Data(script.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return folder.path
    }
}
