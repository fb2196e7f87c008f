import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A slot file keeps the rules of all sidecars, and is replaced as a whole.
@Suite("The file of key slots")
struct SlotFileRuleTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
        try makeSlots(path, "first").close()
    }

    private func slots() throws -> KeySlots {
        try KeySlots.open(path: path, encryption: Encryption(key: .passphrase("first")))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test("has the mode of the database, also after a change", arguments: [0o600, 0o640, 0o644, 0o660])
    func mode(_ mode: mode_t) throws {
        #expect(chmod(path, mode) == 0)
        try slots().change("first", to: .passphrase("second"))
        #expect(permissions(of: path + "-keys") == mode)
        let problems = try DatabaseFile.inspect(path: path).slotFileProblems
        #expect(problems.contains(.readableByOthers) == (mode & S_IROTH != 0))
        #expect(try names() == ["db.sqlite", "db.sqlite-keys"])
    }

    @Test("is beside the real file, also behind a link")
    func link() throws {
        let link = folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try KeySlots.open(path: link, encryption: Encryption(key: .passphrase("first")))
            .change("first", to: .passphrase("second"))
        #expect(try value(link, "second") == 1)
        #expect(try names() == ["db.sqlite", "db.sqlite-keys", "link"])
    }

    @Test(
        "that is a link, a folder or a pipe is an error immediately, and stays", .timeLimit(.minutes(1)),
        arguments: 0..<3)
    func impostor(_ kind: Int) throws {
        let slots = try slots(), name = path + "-keys"
        try FileManager.default.moveItem(atPath: name, toPath: folder.path("kept"))
        switch kind {
        case 0: try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: folder.path("kept"))
        case 1: try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
        default: try #require(mkfifo(name, 0o600) == 0)
        }
        let before = try names()
        for use in [{ _ = try value(path, "first") }, { try slots.change("first", to: .passphrase("second")) }] {
            let error = #expect(throws: DatabaseError.self) { try use() }
            #expect(error?.reason == .unfitSlotFile)
        }
        #expect(try DatabaseFile.inspect(path: path).slotFileProblems == [.unreadable])
        #expect(try names() == before)
    }

    @Test("that is damaged, or gone, is never replaced by a change")
    func damaged() throws {
        let slots = try slots(), name = path + "-keys"
        try Data("Strongroom keys 1\n".utf8).write(to: URL(fileURLWithPath: name))
        let error = #expect(throws: DatabaseError.self) { try slots.change("first", to: .passphrase("second")) }
        #expect(error?.reason == .damagedSlotFile)
        #expect(try String(contentsOfFile: name, encoding: .utf8) == "Strongroom keys 1\n")
        try FileManager.default.removeItem(atPath: name)
        let gone = #expect(throws: DatabaseError.self) { try slots.change("first", to: .passphrase("second")) }
        #expect(gone?.reason == .unfitSlotFile)
        #expect(try names() == ["db.sqlite"])
    }

    @Test("replaces the remains of a killed change")
    func leftOver() throws {
        try Data("half".utf8).write(to: URL(fileURLWithPath: path + "-keys-new"))
        try slots().change("first", to: .passphrase("second"))
        #expect(try names() == ["db.sqlite", "db.sqlite-keys"])
        #expect(try value(path, "second") == 1)
    }

    @Test(
        "has the former secret or the new one after each failing sync", .enabled(if: strongroom_faults_syncs() >= 0),
        arguments: 0..<2)
    func syncs(passing: Int64) throws {
        let slots = try slots()
        strongroom_faults_fail_syncs(passing)
        defer { strongroom_faults_fail_syncs(-1) }
        let error = #expect(throws: DatabaseError.self) { try slots.change("first", to: .passphrase("second")) }
        strongroom_faults_fail_syncs(-1)
        #expect(error?.resultCode == .SQLITE_IOERR)
        // The last sync is that of the folder, which has the new file by then.
        #expect(try value(path, passing == 0 ? "first" : "second") == 1)
        #expect(try names() == ["db.sqlite", "db.sqlite-keys"])
    }

    @Test("is changed by one at a time, and no change is lost")
    func concurrency() async throws {
        let path = path, before = try slots().epoch
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    let slots = try KeySlots.open(path: path, encryption: Encryption(key: .passphrase("first")))
                    try slots.add(.passphrase("\(number)"), NewKeySlot(label: "\(number)", derivation: .cheap))
                }
            }
            try await group.waitForAll()
        }
        let slots = try slots()
        #expect(try Set(slots.slots.map(\.label)) == ["first", "0", "1", "2", "3"])
        #expect(try slots.epoch == before + 4)
    }

    @Test("is copied with a copy with the same key, and not with one that has another")
    func copies() throws {
        let pool = try DatabasePool(path: path, configuration: .slots("first"))
        let code = try pool.keySlots().addRecoveryCode().withText { String(decoding: $0, as: UTF8.self) }
        let first = Encryption(key: .passphrase("first"))
        try pool.vacuum(into: folder.path("vacuumed"))
        try DatabaseFile.migrate(path: path, to: folder.path("migrated"), from: first)
        try DatabaseFile.migrate(
            path: path, to: folder.path("other"), from: first,
            as: Encryption(key: .passphrase("third")))
        for copy in ["vacuumed", "migrated"] {
            #expect(try value(folder.path(copy), "first") == 1)
            #expect(try value(folder.path(copy), code) == 1)
        }
        #expect(try value(folder.path("other"), "third") == 1)
        #expect(try !names().contains("other-keys"))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.migrate(
                path: path, to: folder.path("new"), from: first,
                as: Encryption(key: .passphrase("a")))
            try FileManager.default.removeItem(atPath: folder.path("other"))
            try Data().write(to: URL(fileURLWithPath: folder.path("other-keys")))
            try DatabaseFile.migrate(path: path, to: folder.path("other"), from: first)
        }
        #expect(error?.reason == .fileExists)
    }

    @Test("that is missing or foreign is an error of a copy, which nothing would open")
    func uncopied() throws {
        let pool = try DatabasePool(path: path, configuration: .slots("first")), name = path + "-keys"
        try FileManager.default.moveItem(atPath: name, toPath: folder.path("kept"))
        let gone = #expect(throws: DatabaseError.self) { try pool.vacuum(into: folder.path("copy")) }
        #expect(gone?.reason == .unfitSlotFile)
        try makeSlots(folder.path("other"), "other").close()
        try FileManager.default.copyItem(atPath: folder.path("other-keys"), toPath: name)
        let foreign = #expect(throws: DatabaseError.self) { try pool.vacuum(into: folder.path("copy")) }
        #expect(foreign?.reason == .foreignSlotFile)
        #expect(try !names().contains { $0.hasPrefix("copy") })
        // With the data key itself, the copy opens.
        try FileManager.default.removeItem(atPath: name)
        try FileManager.default.moveItem(atPath: folder.path("kept"), toPath: name)
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try pool.keySlots().dataKey)
        try FileManager.default.removeItem(atPath: name)
        try DatabaseQueue(path: path, configuration: configuration).vacuum(into: folder.path("copy"))
    }

    @Test("is restored from a backup, by a secret of the backup, with a greater epoch")
    func restore() throws {
        let slots = try slots(), backup = folder.path("backup"), first = Encryption(key: .passphrase("first"))
        let epoch = try slots.epoch
        try Data(slots.backup()).write(to: URL(fileURLWithPath: backup))
        try slots.change("first", to: .passphrase("second"))
        let exists = #expect(throws: DatabaseError.self) { try KeySlots.restore(backup, path: path, encryption: first) }
        #expect(exists?.reason == .fileExists)
        let wrong = #expect(throws: DatabaseError.self) {
            try KeySlots.restore(
                backup, path: path, encryption: Encryption(key: .passphrase("second")),
                replacing: true)
        }
        #expect(wrong?.reason == .wrongKey)
        #expect(try KeySlots.restore(backup, path: path, encryption: first, replacing: true).epoch == epoch + 2)
        #expect(try value(path, "first") == 1)
        try FileManager.default.removeItem(atPath: path + "-keys")
        #expect(try KeySlots.restore(backup, path: path, encryption: first).epoch == epoch + 1)
        #expect(try value(path, "first") == 1)
    }
}
