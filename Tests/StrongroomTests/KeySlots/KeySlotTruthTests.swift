import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Errors about key slots say what is the case, also while others change the slots.
@Suite("Errors about key slots")
struct KeySlotTruthTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private var plain: Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("first"), settings: CipherSettings(kdfIterations: 1000))
        return configuration
    }

    private func makePlain(_ path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: plain)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
    }

    private func reason(_ body: () throws -> Void) -> DatabaseError.Reason? {
        #expect(throws: DatabaseError.self, performing: body)?.reason
    }

    private func copy(_ name: String, to other: String) throws {
        for ending in ["", "-keys", "-salt", "-wal"] where FileManager.default.fileExists(atPath: name + ending) {
            try FileManager.default.copyItem(atPath: name + ending, toPath: other + ending)
        }
    }

    // MARK: - Slots

    @Test("A secret gets one slot, whatever the kind of the other")
    func existing() throws {
        let slots = try makeSlots(path, "first").keySlots(), code = try slots.addRecoveryCode()
        let other = NewKeySlot(label: "other", derivation: .cheap)
        #expect(reason { try slots.add(.passphrase("first"), other) } == .existingKeySlot)
        #expect(reason { try slots.add(code.key, other) } == .existingKeySlot)
        #expect(try slots.slots.count == 2)
        try slots.add(.passphrase("second"), other)
        #expect(try slots.slots.count == 3)
        #expect(reason { try slots.change("other", to: .passphrase("first")) } == .existingKeySlot)
        #expect(reason { try slots.change("other", to: code.key) } == .existingKeySlot)
        try slots.change("other", to: .passphrase("second"))
    }

    @Test("A raw key makes no database with slots, in either form")
    func rawKeys() throws {
        let digits = String(repeating: "0f", count: 32)
        for key in [try DatabaseKey.random(), .passphrase("x'\(digits)'")] {
            var configuration = Configuration()
            configuration.encryption = Encryption(key: key)
            configuration.encryption?.keySlots.creating = NewKeySlot(label: "raw", derivation: .cheap)
            #expect(reason { _ = try DatabaseQueue(path: path, configuration: configuration) } == .unfitKeySlot)
            #expect(NamedFile.size(path) <= 0)
            #expect(!FileManager.default.fileExists(atPath: path + "-keys"))
        }
    }

    @Test("The epoch does not begin again when slots are removed and made")
    func epoch() throws {
        let pool = try makeSlots(path, "first"), first = try pool.keySlots().epoch
        try pool.rotateKey(.removing(newKey: .passphrase("plain")))
        try pool.rotateKey(.creating(NewKeySlot(label: "a", derivation: .cheap), secret: .passphrase("first")))
        let second = try pool.keySlots().epoch
        #expect(second > first)
        try pool.close()
        var configuration = Configuration.slots("first")
        configuration.encryption?.keySlots.leastEpoch = first
        try DatabaseQueue(path: path, configuration: configuration).close()
        #expect(second > 1_700_000_000_000_000 && second < SlotFile.largestEpoch)
    }

    @Test("A second renewal waits for the readers of the first one, and reports no forgery")
    func pendingRenewal() throws {
        let pool = try makeSlots(path, "first")
        let reader = try DatabaseQueue(path: path, configuration: .slots("first"))
        try reader.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT a FROM t")
            #expect(try pool.rotateKey(.keeping([.passphrase("first")])) == .formerKeyRemains)
            let error = #expect(throws: DatabaseError.self) { try pool.rotateKey(.keeping([.passphrase("first")])) }
            #expect(error?.resultCode == .SQLITE_BUSY && error?.reason == .checkpointPending)
        }
        try reader.close()
        #expect(try pool.rotateKey(.keeping([.passphrase("first")])) == .complete)
        try pool.close()
        #expect(try value(path, "first") == 1)
    }

    // MARK: - What is beside the database

    @Test("A wrong key beside no slot file names the one that a database with slots has")
    func missing() throws {
        try makeSlots(path, "first").close()
        try FileManager.default.moveItem(atPath: path + "-keys", toPath: folder.path("kept"))
        let error = #expect(throws: DatabaseError.self) { try value(path, "first") }
        #expect(error?.reason == .wrongKey)
        #expect(error?.recoverySuggestion?.contains(path + "-keys") == true)
        try FileManager.default.moveItem(atPath: folder.path("kept"), toPath: path + "-keys")
        #expect(try value(path, "first") == 1)
        let wrong = #expect(throws: DatabaseError.self) { try value(path, "wrong") }
        #expect(wrong?.reason == .wrongKey && wrong?.recoverySuggestion == nil)
    }

    @Test("A backup from before the slots opens beside today's slot file, which stays")
    func backupFromBefore() throws {
        try makePlain(path)
        try copy(path, to: folder.path("backup"))
        let queue = try DatabaseQueue(path: path, configuration: plain)
        try queue.rotateKey(.creating(NewKeySlot(label: "a", derivation: .cheap), secret: .passphrase("second")))
        try queue.close()
        let keys = try Data(contentsOf: URL(fileURLWithPath: path + "-keys"))
        try FileManager.default.removeItem(atPath: path)
        try copy(folder.path("backup"), to: path)
        let restored = try DatabaseQueue(path: path, configuration: plain)
        #expect(try restored.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        let error = #expect(throws: DatabaseError.self) { try restored.rotateKey(to: .passphrase("third")) }
        #expect(error?.reason == .foreignSlotFile)
        try restored.close()
        #expect(reason { _ = try value(path, "second") } == .foreignSlotFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-keys")) == keys)
    }

    @Test(
        "A slot file from before a renewal is no wrong key", arguments: [nil, PlaintextHeader()], ["first", "second"])
    func olderSlotFile(header: PlaintextHeader?, passphrase: String) throws {
        var configuration = Configuration.slots("first", creating: true)
        configuration.encryption?.plaintextHeader = header
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        let before = try pool.keySlots().backup()
        try pool.keySlots().change("first", to: .passphrase(passphrase))
        try pool.rotateKey(.keeping([.passphrase(passphrase)]))
        try pool.close()
        #expect(try value(path, passphrase) == 1)
        try Data(before).write(to: URL(fileURLWithPath: path + "-keys"))
        #expect(reason { _ = try value(path, passphrase) } == .foreignSlotFile)
    }

    // MARK: - Beside a change

    @Test(
        "A reading command that meets a change of slots at any of its locks opens the database",
        .timeLimit(.minutes(5)),
        arguments: [false, true], ["wal", "delete"])
    func changedMeanwhile(hadSlots: Bool, journalMode: String) throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        strongroom_faults_install()
        let model = folder.path("model")
        try makePlain(model)
        try change(model, hasSlots: false, journalMode: journalMode)
        if hadSlots { try change(model, hasSlots: true, journalMode: journalMode) }
        var changes = 0
        let step = Form.step(4, "locks of an opening at which another connection changes the slots")
        for turn in stride(from: Int64(0), to: 60, by: Int64.Stride(step)) {
            let path = folder.path("\(turn)")
            try copy(model, to: path)
            let moment = Turn {
                if (try? self.change(path, hasSlots: !hadSlots, journalMode: nil)) != nil { changes += 1 }
            }
            strongroom_turns_begin(
                turn, { Unmanaged<Turn>.fromOpaque($0!).takeUnretainedValue().act() }, moment.context)
            let result = Result { () throws -> Int? in
                try DatabaseFile.reading(path: path, encryption: plain.encryption) { _ in 1 }
            }
            let count = strongroom_turns_end()
            if case .failure(let error as DatabaseError) = result {
                #expect(error.resultCode == .SQLITE_BUSY, "turn \(turn): \(error)")
            }
            if count <= turn { break }
        }
        #expect(changes > 0)
    }

    /// A way to open a database for writing.
    enum Opening: CaseIterable { case queue, pool }

    @Test(
        "A queue or pool that opens during a change of slots, at any of its locks, opens the database",
        .timeLimit(.minutes(5)),
        arguments: [false, true], Opening.allCases)
    func openedMeanwhile(hadSlots: Bool, opening: Opening) throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        strongroom_faults_install()
        let model = folder.path("model")
        try makePlain(model)
        try change(model, hasSlots: false, journalMode: "wal")
        if hadSlots { try change(model, hasSlots: true, journalMode: "wal") }
        var changes = 0, configuration = plain
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(5)
        // The locks of a queue are the first ones of a pool.
        let step = opening == .queue ? 6 : Form.step(3, "locks of an opening at which another connection changes slots")
        for turn in stride(from: Int64(0), to: 90, by: Int64.Stride(step)) {
            let path = folder.path("\(turn)")
            try copy(model, to: path)
            let moment = Turn {
                if (try? self.change(path, hasSlots: !hadSlots, journalMode: nil)) != nil { changes += 1 }
            }
            strongroom_turns_begin(
                turn, { Unmanaged<Turn>.fromOpaque($0!).takeUnretainedValue().act() }, moment.context)
            let result = Result { () throws -> Void in
                switch opening {
                case .queue: try DatabaseQueue(path: path, configuration: configuration).close()
                case .pool: try DatabasePool(path: path, configuration: configuration).close()
                }
            }
            let count = strongroom_turns_end()
            if case .failure(let error as DatabaseError) = result {
                #expect(error.resultCode == .SQLITE_BUSY, "turn \(turn): \(error)")
            }
            if count <= turn { break }
        }
        #expect(changes > 0)
    }

    /// Gives slots to the database, or takes them.
    private func change(_ path: String, hasSlots: Bool, journalMode: String?) throws {
        let queue = try DatabaseQueue(path: path, configuration: plain)
        if let journalMode { try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(journalMode)") } }
        if hasSlots {
            try queue.rotateKey(.creating(NewKeySlot(label: "a", derivation: .cheap), secret: .passphrase("first")))
        } else if FileManager.default.fileExists(atPath: path + "-keys") {
            try queue.rotateKey(.removing(newKey: .passphrase("first")))
        }
        try queue.close()
    }

    @Test(
        "Slots that are removed in the middle of a derivation are met by an opening",
        .enabled(if: strongroom_faults_operations() >= 0))
    func removedMeanwhile() throws {
        let pool = try makeSlots(path, "first")
        var outcome: Result<RotationOutcome, any Error>?
        beforeDeriving { outcome = Result { try pool.rotateKey(.removing(newKey: .passphrase("first"))) } }
        #expect(try value(path, "first") == 1)
        #expect(try outcome?.get() == .complete)
    }
}

/// An action that C calls at a turn, once.
private final class Turn {
    private var action: (() -> Void)?

    init(_ action: @escaping () -> Void) { self.action = action }

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    func act() {
        let action = self.action
        self.action = nil
        action?()
    }
}
