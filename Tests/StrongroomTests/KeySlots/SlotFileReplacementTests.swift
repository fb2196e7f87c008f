import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The next content of a slot file grows under the name `-keys-new`, which anybody may have taken.
@Suite("The replacement of a slot file")
struct SlotFileReplacementTests {
    private let folder: TemporaryFolder
    private let path: String
    private let files: SlotFiles

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
        files = SlotFiles(database: path)
        try makeSlots(path, "first").close()
    }

    private func slots() throws -> KeySlots {
        try KeySlots.open(path: path, encryption: Encryption(key: .passphrase("first")))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("writes into no file that has another name, too")
    func hardLink() throws {
        let other = folder.path("other")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: other))
        try #require(link(other, path + "-keys-new") == 0)
        try slots().change("first", to: .passphrase("second"))
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "precious")
        #expect(try names() == ["db.sqlite", "db.sqlite-keys", "other"])
        #expect(try value(path, "second") == 1)
    }

    @Test("leaves a link, a folder or a pipe as it is", .timeLimit(.minutes(1)), arguments: 0..<3)
    func impostor(_ kind: Int) throws {
        let other = folder.path("other"), name = path + "-keys-new"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: other))
        switch kind {
        case 0: try #require(symlink(other, name) == 0)
        case 1: try #require(mkdir(name, 0o700) == 0)
        default: try #require(mkfifo(name, 0o600) == 0)
        }
        let before = try names(), slots = try slots()
        let error = #expect(throws: DatabaseError.self) { try slots.change("first", to: .passphrase("second")) }
        #expect(error?.reason == .unfitSlotFile)
        #expect(try value(path, "first") == 1)
        #expect(try names() == before)
        #expect(try String(contentsOfFile: other, encoding: .utf8) == "precious")
    }

    @Test("is open to users who may write the database, so that they wait for it")
    func mode() throws {
        #expect(chmod(path, 0o660) == 0)
        try files.changing { _ in #expect(permissions(of: path + "-keys-new") == 0o660) }
    }

    @Test("that was killed is cleared away by the next opening for writing, and one in progress is not")
    func leftOver() throws {
        let open = { try DatabaseQueue(path: path, configuration: .slots("first")).close() }
        try Data("half".utf8).write(to: URL(fileURLWithPath: path + "-keys-new"))
        try open()
        #expect(try names() == ["db.sqlite", "db.sqlite-keys"])
        try files.changing { _ in
            try open()
            #expect(files.exists(.scratch))
        }
    }

    @Test("succeeds when the next one comes right behind it", .enabled(if: strongroom_faults_operations() >= 0))
    func overtaken() throws {
        let slots = try slots(), others = try self.slots()
        for label in ["second", "third"] {
            try slots.add(.passphrase(label), NewKeySlot(label: label, derivation: .cheap))
        }
        var outcome: Result<Void, any Error>?
        afterRenaming { outcome = Result { try others.remove("third") } }
        try slots.remove("second")
        try outcome?.get()
        #expect(outcome != nil)
        #expect(try slots.slots.map(\.label) == ["first"])
    }
}
