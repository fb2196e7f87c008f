import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A change of data key")
struct KeySlotRotationTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func opens(_ passphrase: String) throws -> Bool {
        do {
            return try value(path, passphrase) == 1
        } catch let error as DatabaseError where error.isWrongKeyError {
            return false
        }
    }

    @Test("keeps the slots whose secrets are given, and drops others with consent only")
    func keeping() throws {
        let pool = try makeSlots(path, "first"), slots = try pool.keySlots()
        try slots.add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
        let code = try slots.addRecoveryCode(), before = slots.dataKey, epoch = try slots.epoch
        let ids = try slots.slots.map(\.id)
        let refused = #expect(throws: DatabaseError.self) {
            try pool.rotateKey(.keeping([.passphrase("first"), code.key]))
        }
        #expect(refused?.reason == .droppedKeySlots)
        #expect(try slots.slots(notOpenedBy: [.passphrase("first"), code.key]).map(\.label) == ["second"])
        #expect(try pool.rotateKey(.keeping([.passphrase("first"), code.key], droppingOthers: true)) == .complete)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        let after = try pool.keySlots()
        #expect(try after.slots.map(\.id) == [ids[0], ids[2]])
        #expect(try after.epoch == epoch + 1)
        try pool.close()
        #expect(try opens("first"))
        #expect(try opens(code.withText { String(decoding: $0, as: UTF8.self) }))
        #expect(try !opens("second"))
        var configuration = Configuration()
        configuration.encryption = Encryption(key: before)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(try names() == ["db.sqlite", "db.sqlite-keys"])
    }

    @Test("needs a secret that opens a slot")
    func wrongSecret() throws {
        let pool = try makeSlots(path, "first")
        let error = #expect(throws: DatabaseError.self) {
            try pool.rotateKey(.keeping([.passphrase("none")], droppingOthers: true))
        }
        #expect(error?.reason == .wrongKey)
        let none = #expect(throws: DatabaseError.self) { try pool.rotateKey(.keeping([], droppingOthers: true)) }
        #expect(none?.reason == .lastKeySlot)
        let plain = #expect(throws: DatabaseError.self) { try pool.rotateKey(to: .passphrase("new")) }
        #expect(plain?.reason == .unfitKeySlots)
        #expect(try opens("first"))
    }

    @Test("gives slots to a database, and takes them")
    func conversions() async throws {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("plain"), settings: CipherSettings(kdfIterations: 1000))
        let pool = try DatabasePool(path: path, configuration: configuration)
        try await pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try await pool.rotateKey(
            .creating(
                NewKeySlot(label: "first", derivation: .cheap),
                secret: .passphrase("first")))
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try pool.keySlots().slots.map(\.label) == ["first"])
        #expect(try opens("first") && !opens("plain"))
        let again = #expect(throws: DatabaseError.self) {
            try pool.rotateKey(.creating(NewKeySlot(label: "a", derivation: .cheap), secret: .passphrase("a")))
        }
        #expect(again?.reason == .unfitKeySlots)
        try await pool.rotateKey(.removing(newKey: .passphrase("plain")))
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try pool.close()
        #expect(try names() == ["db.sqlite"])
        _ = try DatabaseQueue(path: path, configuration: configuration)
    }

    @Test("gives the key of the database to a store, and takes the slots")
    func managed() throws {
        try makeSlots(path, "first").close()
        let store = FileKeyStore(path: folder.path("key"))
        let queue = try DatabaseQueue(path: path, configuration: .slots("first"))
        try queue.rotateKey(.removing(newKey: .managed(by: store)))
        try queue.close()
        #expect(try names() == ["db.sqlite", "db.sqlite-key-lock", "key", "key-database"])
        #expect(try !opens("first"))
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: store))
        let managed = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try managed.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("of which a copy has the next slot file alone is finished by opening it")
    func stray() throws {
        try makeSlots(path, "first").close()
        let other = folder.path("other")
        try makeSlots(other, "other").close()
        for (source, isNext) in [(path, false), (other, false), (path, true)] {
            try FileManager.default.copyItem(atPath: source + "-keys", toPath: path + "-keys-next")
            if isNext { try FileManager.default.removeItem(atPath: path + "-keys") }
            let pool = try DatabasePool(path: path, configuration: .slots("first"))
            try pool.keySlots().change("first", to: .passphrase("first"))
            try pool.close()
            #expect(try opens("first"))
            #expect(try names() == ["db.sqlite", "db.sqlite-keys", "other", "other-keys"])
        }
    }

    @Test(
        "by another connection is met by an opening in the middle of its derivation",
        .enabled(if: strongroom_faults_operations() >= 0), arguments: [nil, PlaintextHeader()])
    func renewedMeanwhile(header: PlaintextHeader?) throws {
        var configuration = Configuration.slots("first", creating: true)
        configuration.encryption?.plaintextHeader = header
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        var outcome: Result<RotationOutcome, any Error>?
        beforeDeriving { outcome = Result { try pool.rotateKey(.keeping([.passphrase("first")])) } }
        #expect(try opens("first"))
        #expect(try outcome?.get() == .complete)
    }

    @Test("that waits for a reader has both slot files, opens by either set of secrets, and refuses changes of slots")
    func pending() throws {
        let pool = try makeSlots(path, "first"), slots = try pool.keySlots()
        try slots.add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
        let reader = try DatabaseQueue(path: path, configuration: .slots("first"))
        try reader.read { db in
            _ = try Int.fetchOne(db, sql: "SELECT a FROM t")
            #expect(try pool.rotateKey(.keeping([.passphrase("first")], droppingOthers: true)) == .formerKeyRemains)
            #expect(try names().contains("db.sqlite-keys-next"))
            #expect(try opens("first"))
            let error = #expect(throws: DatabaseError.self) { try slots.remove("second") }
            #expect(error?.reason == .checkpointPending)
            #expect(try pool.keySlots().slots.map(\.label) == ["first"])
            let backup = folder.path("backup")
            try Data(pool.keySlots().backup()).write(to: URL(fileURLWithPath: backup))
            let restoring = #expect(throws: DatabaseError.self) {
                try KeySlots.restore(
                    backup, path: path, encryption: Encryption(key: .passphrase("first")), replacing: true)
            }
            #expect(restoring?.reason == .checkpointPending)
            try pool.vacuum(into: folder.path("copy"))
            #expect(try value(folder.path("copy"), "first") == 1)
        }
        try reader.close()
        #expect(try pool.finishKeyRotation() == .complete)
        #expect(try !names().contains("db.sqlite-keys-next"))
        #expect(try opens("first") && !opens("second"))
    }
}
