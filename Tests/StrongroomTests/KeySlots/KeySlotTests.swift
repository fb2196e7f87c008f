import CStrongroom
import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A database with key slots")
struct KeySlotTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private func reason(_ body: () throws -> Void) -> DatabaseError.Reason? {
        #expect(throws: DatabaseError.self) { try body() }?.reason
    }

    @Test("is created with one, and opened by its secret alone")
    func creation() throws {
        try makeSlots(path, "first").close()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["db.sqlite", "db.sqlite-keys"])
        #expect(try value(path, "first") == 1)
        let error = #expect(throws: DatabaseError.self) { try value(path, "second") }
        #expect(error?.reason == .wrongKey && error?.isWrongKeyError == true)
        let slots = try KeySlots.open(path: path, encryption: Encryption(key: .passphrase("first")))
        #expect(try slots.slots.map(\.label) == ["first"])
    }

    @Test("opens by usePassphrase, too, and keeps a plaintext header")
    func header() throws {
        var configuration = Configuration.slots("first", creating: true)
        configuration.encryption?.plaintextHeader = PlaintextHeader()
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
        #expect(try DatabaseFile.inspect(path: path).kind == .plaintextHeader)
        var plain = Configuration()
        plain.prepareDatabase { db in
            try db.usePassphrase("first")
            try db.usePassphrase("first")
        }
        let again = try DatabaseQueue(path: path, configuration: plain)
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("that is created by several simultaneously has one data key")
    func race() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    var configuration = Configuration.slots("first", creating: true)
                    configuration.busyMode = .timeout(20)
                    let queue = try DatabaseQueue(path: path, configuration: configuration)
                    try await queue.write { try $0.execute(sql: "CREATE TABLE t\(number)(a)") }
                }
            }
            try await group.waitForAll()
        }
        let queue = try DatabaseQueue(path: path, configuration: .slots("first"))
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") } == 4)
        #expect(try queue.keySlots().slots.count == 1)
    }

    @Test("costs one derivation for a pool, its readers and its snapshots; with a preferred slot at any place")
    func derivations() throws {
        let pool = try makeSlots(path, "first")
        try pool.keySlots().add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
        try pool.close()
        var configuration = Configuration.slots("second")
        configuration.encryption?.keySlots.preferred = "second"
        for (configuration, count) in [(.slots("first"), 1), (configuration, 1), (.slots("second"), 2)] {
            let pool = try DatabasePool(path: path, configuration: configuration)
            DispatchQueue.concurrentPerform(iterations: 5) { _ in
                _ = try? pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
            }
            _ = try pool.makeSnapshot().read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
            #expect(try #require(pool.configuration.keyring).derivationCount == count)
        }
    }

    @Test("changes a passphrase while it is in use, and only the new one opens it")
    func change() throws {
        let pool = try makeSlots(path, "first"), slots = try pool.keySlots()
        let before = try slots.slots[0], epoch = try slots.epoch
        let after = try slots.change("first", to: .passphrase("second"))
        #expect(after.id == before.id && after.label == before.label && after.derivation == before.derivation)
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try value(path, "second") == 1)
        #expect(reason { _ = try value(path, "first") } == .wrongKey)
        #expect(try slots.epoch == epoch + 1)
    }

    @Test("knows the slot that opened it, on each connection and after a renewal of the data key")
    func opened() throws {
        let pool = try makeSlots(path, "first")
        #expect(try pool.keySlots().opened?.label == "first")
        #expect(try pool.write { try $0.keySlots().opened?.label } == "first")
        try pool.rotateKey(.keeping([.passphrase("first")]))
        #expect(try pool.keySlots().opened?.label == "first")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try pool.keySlots().dataKey)
        #expect(try DatabaseQueue(path: path, configuration: configuration).keySlots().opened == nil)
    }

    @Test("writes as many bytes for a change of passphrase at any size", arguments: [10, 200])
    func independentOfSize(megabytes: Int) throws {
        strongroom_faults_install()
        let queue = try DatabaseQueue(path: path, configuration: .slots("first", creating: true))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a)")
            for _ in 0..<megabytes / 10 { try db.execute(sql: "INSERT INTO t VALUES (zeroblob(10000000))") }
        }
        let before = strongroom_faults_bytes_written(), size = strongroom_size_of_file(path)
        #expect(size > Int64(megabytes) * 900_000)
        try queue.keySlots().change("first", to: .passphrase("second"))
        #expect(strongroom_faults_bytes_written() == before)
        #expect(strongroom_size_of_file(path + "-keys") == 408)
    }

    /// The derivations on this thread so far. Negative where they can't be counted.
    private static var derivationCount: Int64 {
        var seconds = 0.0
        return strongroom_faults_derivations(&seconds)
    }

    private func derivations(_ body: () throws -> Void) rethrows -> Int64 {
        let before = Self.derivationCount
        try body()
        return Self.derivationCount - before
    }

    @Test(
        "takes two derivations for a change of passphrase, the opening included, and one for each other slot",
        .enabled(if: derivationCount >= 0))
    func derivationsOfChange() throws {
        try makeSlots(path, "first").close()
        let change = { (old: String, new: String) in
            try derivations {
                try KeySlots.open(path: path, encryption: Encryption(key: .passphrase(old)))
                    .change("first", to: .passphrase(new))
            }
        }
        #expect(try change("first", "second") == 2)
        #expect(try change("second", "second") == 2)
        #expect(try value(path, "second") == 1)
        let other = NewKeySlot(label: "other", derivation: .cheap)
        let added = try derivations {
            try KeySlots.open(path: path, encryption: Encryption(key: .passphrase("second")))
                .add(.passphrase("third"), other)
        }
        #expect(added == 3)
        #expect(try change("second", "fourth") == 3)
    }

    @Test("adds slots up to 32, and loses all but the last")
    func addAndRemove() throws {
        let pool = try makeSlots(path, "first"), slots = try pool.keySlots()
        // A new passphrase is tried on the slots of the others.
        for number in 2...31 { _ = try slots.addRecoveryCode(label: "\(number)") }
        try slots.add(.passphrase("32"), NewKeySlot(label: "32", derivation: .cheap))
        let next = NewKeySlot(label: "33", derivation: .cheap)
        #expect(reason { try slots.add(.passphrase("33"), next) } == .unfitKeySlot)
        #expect(reason { try slots.remove("none") } == .missingKeySlot)
        for slot in try slots.slots.dropLast() { try slots.remove(slot.id) }
        #expect(reason { try slots.remove("32") } == .lastKeySlot)
        #expect(try value(path, "32") == 1)
        #expect(reason { _ = try value(path, "first") } == .wrongKey)
    }

    @Test("opens by a recovery code, however it is typed")
    func recoveryCode() throws {
        let pool = try makeSlots(path, "first")
        let text = try pool.keySlots().addRecoveryCode().withText { String(decoding: $0, as: UTF8.self) }
        #expect(text.count == 41 && text.split(separator: "-").count == 7)
        let asPeopleType = text.replacing("-", with: " ").replacing("0", with: "o")
        let dashed = text.replacing("-", with: "\u{2013}").replacing("V", with: "u")
        let asProgramsType = "\u{FEFF}\t" + dashed + "\u{A0}\n"
        for typed in [text, text.lowercased(), text.replacing("-", with: ""), asPeopleType, asProgramsType] {
            #expect(try value(path, typed) == 1)
        }
        var slip = Array(text)
        slip[3] = slip[3] == "A" ? "B" : "A"
        let error = #expect(throws: DatabaseError.self) { try value(path, String(slip)) }
        #expect(error?.reason == .mistypedRecoveryCode && error?.isWrongKeyError == true)
        for mistyped in [text + "A", String(text.dropLast()), text + "!", text.replacing("-", with: "\u{2212}") + "0"] {
            #expect(reason { _ = try value(path, mistyped) } == .mistypedRecoveryCode, "\(mistyped)")
        }
        // Its check fits: it is another code.
        let other = try RecoveryCode().withText { String(decoding: $0, as: UTF8.self) }
        #expect(reason { _ = try value(path, other) } == .wrongKey)
        #expect(reason { _ = try value(path, "correct horse battery") } == .wrongKey)
        let passphrase = "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE-FFFFF-GGGGG"
        try pool.keySlots().add(.passphrase(passphrase), NewKeySlot(label: "like a code", derivation: .cheap))
        #expect(try value(path, passphrase) == 1)
    }

    @Test("opens in the stock shell with the exported data key, which opens it here, too")
    func export() throws {
        let pool = try makeSlots(path, "first"), slots = try pool.keySlots()
        let digits = try slots.withDataKeyAndSalt { hexadecimal($0) }
        #expect(try stockShell(path, key: "x'\(digits)'", setUp: "", "SELECT a FROM t;") == ["1"])
        var configuration = Configuration()
        configuration.encryption = Encryption(key: slots.dataKey)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("refuses an empty secret, a raw key as one, unfit labels, and derivations outside of their bounds")
    func unfit() throws {
        let slots = try makeSlots(path, "first").keySlots()
        func add(_ key: DatabaseKey, _ slot: NewKeySlot) -> DatabaseError.Reason? {
            reason { try slots.add(key, slot) }
        }
        #expect(add(.passphrase(""), NewKeySlot(label: "a", derivation: .cheap)) == .emptyKey)
        #expect(try add(.random(), NewKeySlot(label: "a", derivation: .cheap)) == .unfitKeySlot)
        for label in ["", "a\nb", "\u{202e}a", String(repeating: "a", count: 65)] {
            #expect(add(.passphrase("a"), NewKeySlot(label: label, derivation: .cheap)) == .unfitKeySlot)
        }
        for derivation in [KeyDerivation.hkdf, .scrypt(logN: 13, r: 8, p: 1), .pbkdf2(rounds: 1000)] {
            let expected: DatabaseError.Reason = derivation == .hkdf ? .unfitKeySlot : .weakKeyCost
            #expect(add(.passphrase("a"), NewKeySlot(label: "a", derivation: derivation)) == expected)
        }
        let costly: [KeyDerivation] = [
            .scrypt(logN: 23, r: 8, p: 1), .scrypt(logN: 60, r: 8, p: 1), .pbkdf2(rounds: 1 << 40),
        ]
        for derivation in costly {
            #expect(add(.passphrase("a"), NewKeySlot(label: "a", derivation: derivation)) == .excessiveKeyCost)
        }
        #expect(try slots.slots.count == 1)
    }

    @Test("takes no given secret for a recovery code")
    func givenCode() throws {
        let code = NewKeySlot(label: "code", kind: .recoveryCode, derivation: .hkdf)
        var configuration = Configuration.slots("a")
        configuration.encryption?.keySlots.creating = code
        #expect(reason { _ = try DatabaseQueue(path: path, configuration: configuration) } == .unfitKeySlot)
        #expect(!FileManager.default.fileExists(atPath: path + "-keys"))
        let pool = try makeSlots(path, "first"), slots = try pool.keySlots()
        #expect(reason { try slots.add(.passphrase("a"), code) } == .unfitKeySlot)
        #expect(
            reason {
                try slots.change("first", to: .passphrase("a"), kind: .recoveryCode, derivation: .hkdf)
            } == .unfitKeySlot)
        try pool.rotateKey(.removing(newKey: .passphrase("plain")))
        #expect(reason { try pool.rotateKey(.creating(code, secret: .passphrase("a"))) } == .unfitKeySlot)
    }

    @Test("has slots with PBKDF2 if it is requested")
    func pbkdf2() throws {
        let slots = try makeSlots(path, "first").keySlots()
        try slots.add(.passphrase("second"), NewKeySlot(label: "second", derivation: .pbkdf2(rounds: 210_000)))
        #expect(try value(path, "second") == 1)
    }
}

/// A pool with a slot for `passphrase`, and a table `t` with a row 1.
func makeSlots(_ path: String, _ passphrase: String) throws -> DatabasePool {
    let pool = try DatabasePool(path: path, configuration: .slots(passphrase, creating: true))
    try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
    return pool
}

/// The contents of that table, opened by `passphrase`.
func value(_ path: String, _ passphrase: String) throws -> Int? {
    let queue = try DatabaseQueue(path: path, configuration: .slots(passphrase))
    defer { try? queue.close() }
    return try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
}
