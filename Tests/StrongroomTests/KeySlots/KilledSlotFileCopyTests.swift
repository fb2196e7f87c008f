import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A copy with key slots has two names to get: that of its slot file, and its own.
@Suite("A copy with key slots that was killed before it had its name")
struct KilledSlotFileCopyTests {
    private let folder: TemporaryFolder
    private let source: String

    init() throws {
        folder = try TemporaryFolder()
        source = folder.path("source")
        let queue = try DatabaseQueue(path: source, configuration: .slots("first", creating: true))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
    }

    private static func copy(_ source: String, to destination: String) throws {
        try DatabaseFile.migrate(path: source, to: destination, from: Encryption(key: .passphrase("first")))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test(
        "leaves a slot file that is gone with the next copy to the same name, or to another one",
        .enabled(if: strongroom_faults_refused_names() >= 0), arguments: ["copy", "another"])
    func betweenNames(next: String) async throws {
        let before = try names()
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder.path as String] in
            guard strongroom_faults_die_at_naming() else { return }
            try Self.copy(folder + "/source", to: folder + "/copy")
        }
        #expect(try names().contains("copy-keys") && !names().contains("copy"))
        try Self.copy(source, to: folder.path(next))
        #expect(try names() == (before + [next, next + "-keys"]).sorted())
        #expect(try value(folder.path(next), "first") == 1)
    }

    @Test("takes no slot file with it that another database could need")
    func others() throws {
        let left = folder.path(".strongroom-partial-00c0ffee"), keys = try SlotFiles(database: source).read(.current)
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data("copy".utf8).write(to: URL(fileURLWithPath: left + "/copy"))
        let own = try #require(keys), names = ["orphan", "named", "other"].map { folder.path($0) }
        for path in [left + "/copy"] + names {
            try SlotFiles(database: path).changing { try $0.write(own, as: .current, like: source) }
        }
        try Data("database".utf8).write(to: URL(fileURLWithPath: names[1]))
        // The record of the killed copy names one of them.
        try Data("orphan".utf8).write(to: URL(fileURLWithPath: left + "/copy-destination"))
        try Data("Strong".utf8).write(to: URL(fileURLWithPath: folder.path("orphan-keys-new")))
        try Data("Strong".utf8).write(to: URL(fileURLWithPath: folder.path("begun-keys-new")))
        try Self.copy(source, to: folder.path("copy"))
        #expect(
            try self.names() == [
                "begun-keys-new", "copy", "copy-keys", "named", "named-keys", "other-keys", "source", "source-keys",
            ])
    }
}
