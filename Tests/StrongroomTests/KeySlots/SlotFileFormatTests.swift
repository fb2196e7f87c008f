import CStrongroom
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A slot file")
struct SlotFileFormatTests {
    private let dataKey: SecretBytes
    private let file: SlotFile

    init() throws {
        dataKey = try SecretBytes(randomCount: 32)
        var draft = try SlotFileDraft(salt: .random(), dataKey: dataKey, deriver: KeySlotDeriver(), epoch: 0)
        draft = try draft.adding(NewKeySlot(label: "Zoë’s laptop", derivation: .cheap), SecretBytes(copying: [1]))
        let paper = NewKeySlot(label: "paper", kind: .recoveryCode, derivation: .hkdf)
        draft = try draft.adding(paper, RecoveryCode().secret)
        let folder = try TemporaryFolder()
        file = try SlotFiles(database: folder.path("db")).changing { try draft.publish($0, as: .current) }
    }

    @Test("is read as it was written")
    func roundTrip() throws {
        #expect(try SlotFile(text: file.text) == file)
        #expect(try file.isAuthentic(with: dataKey))
        #expect(try !file.isAuthentic(with: SecretBytes(randomCount: 32)))
        let text = String(decoding: file.text, as: UTF8.self).split(separator: "\n")
        #expect(text[0] == "Strongroom keys 1" && text[2] == "epoch 1" && text[4] == "label Zoë’s laptop")
    }

    @Test("may have labels that begin with a mark of the letter before", arguments: ["\u{301}x", "e\u{301}"])
    func marks(label: String) throws {
        var draft = try SlotFileDraft(salt: .random(), dataKey: dataKey, deriver: KeySlotDeriver(), epoch: 0)
        draft = try draft.adding(NewKeySlot(label: label, derivation: .cheap), SecretBytes(copying: [1]))
        let folder = try TemporaryFolder()
        let made = try SlotFiles(database: folder.path("db")).changing { try draft.publish($0, as: .current) }
        #expect(try SlotFile(text: made.text) == made)
        #expect(made.entries[0].slot.label.utf8.elementsEqual(label.utf8))
    }

    @Test("has the tests of RFC 3394, RFC 7914 and RFC 5869 behind it")
    func vectors() throws {
        func bytes(_ hex: String) throws -> SecretBytes { try SecretBytes(copying: #require(hexBytes(hex))) }
        let wrapping = try bytes("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
        let key = try bytes("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f")
        let wrapped = try wrapping.wrap(key)
        #expect(
            hexadecimal(wrapped)
                == "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21")
        #expect(try wrapping.unwrap(wrapped)?.isEqual(to: key) == true)
        #expect(try key.unwrap(wrapped) == nil)
        let derived = try KeyDerivation.scrypt(logN: 14, r: 8, p: 1).key(
            from: SecretBytes(copying: Array("pleaseletmein".utf8)), salt: Array("SodiumChloride".utf8))
        #expect(
            derived.withBytes { hexadecimal($0) }
                == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2")
        // The first 32 bytes of a test without info.
        let expanded = try KeyDerivation.hkdf.key(from: bytes(String(repeating: "0b", count: 22)), salt: [])
        #expect(
            expanded.withBytes { hexadecimal($0) }
                == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
    }

    @Test("uses Argon2id where the provider has it, and says so where not")
    func argon2id() throws {
        let derivation = KeyDerivation.argon2id(memory: 65_536, passes: 2, lanes: 1)
        let derive = {
            try derivation.key(from: SecretBytes(copying: Array("password".utf8)), salt: Array("somesalt".utf8))
        }
        do {
            let key = try derive()
            #expect(
                key.withBytes { hexadecimal($0) }
                    == "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7")
        } catch let error as DatabaseError {
            #expect(error.reason == .unsupportedDerivation)
            #expect(error.failureReason?.contains("argon2id") == true)
        }
    }

    @Test("that was changed anywhere is refused for a reason, or not authentic")
    func mutations() throws {
        let text = file.text
        var random = SeededGenerator(seed: 20), refused: [DatabaseError.Reason: Int] = [:], forged = 0, same = 0
        for _ in 0..<10_000 {
            var changed = text
            for _ in 0..<Int.random(in: 1...3, using: &random) { changed.mutate(using: &random) }
            if changed == text {
                same += 1
                continue
            }
            do {
                let read = try SlotFile(text: changed)
                #expect(try !read.isAuthentic(with: dataKey), "\(String(decoding: changed, as: UTF8.self))")
                forged += 1
            } catch let error as DatabaseError {
                refused[try #require(error.reason), default: 0] += 1
            }
        }
        // About 90 are the same. The file has random bytes, so the count differs.
        #expect(same < 300 && forged > 500 && refused.values.reduce(0, +) > 5000, "\(same) \(forged) \(refused)")
        let expected: [DatabaseError.Reason] = [.damagedSlotFile, .newerSlotFile, .weakKeyCost, .excessiveKeyCost]
        #expect(Set(refused.keys).isSuperset(of: expected), "\(refused)")
    }

    @Test(
        "keeps its limits",
        arguments: [
            ("scrypt 14 8 1", "scrypt 13 8 1", DatabaseError.Reason.weakKeyCost),
            ("scrypt 14 8 1", "scrypt 14 1 1", .weakKeyCost), ("scrypt 14 8 1", "scrypt 23 8 16", .excessiveKeyCost),
            ("scrypt 14 8 1", "scrypt 9000000000000000000 8 1", .excessiveKeyCost),
            ("scrypt 14 8 1", "scrypt -1 8 1", .weakKeyCost), ("scrypt 14 8 1", "scrypt 014 8 1", .damagedSlotFile),
            ("scrypt 14 8 1", "argon2id 1048577 1 1", .excessiveKeyCost),
            ("scrypt 14 8 1", "argon2id 1024 1 1", .weakKeyCost),
            ("scrypt 14 8 1", "pbkdf2-sha512 1", .weakKeyCost), ("scrypt 14 8 1", "hkdf-sha256", .damagedSlotFile),
            ("scrypt 14 8 1", "md5", .damagedSlotFile), ("keys 1", "keys 2", .newerSlotFile),
            ("epoch 1", "epoch 0", .damagedSlotFile),
            ("epoch 1", "epoch +1", .damagedSlotFile), ("epoch 1", "epoch 99999999999999999999", .damagedSlotFile),
            ("kind passphrase", "kind Passphrase", .damagedSlotFile),
            ("label Zoë’s laptop", "label ", .damagedSlotFile),
            ("created 2", "created  2", .damagedSlotFile), ("\nslot ", "\r\nslot ", .damagedSlotFile),
        ])
    func limits(_ text: String, _ other: String, _ reason: DatabaseError.Reason) throws {
        let whole = String(decoding: file.text, as: UTF8.self)
        let changed = whole.replacingOccurrences(of: text, with: other)
        try #require(changed != whole)
        let error = #expect(throws: DatabaseError.self) { try SlotFile(text: Array(changed.utf8)) }
        #expect(error?.reason == reason)
    }

    @Test("of a later format is reported as such, at any size")
    func laterFormat() throws {
        let text = Array("Strongroom keys 2\n".utf8) + Array(repeating: 255, count: SlotFile.largestSize)
        let error = #expect(throws: DatabaseError.self) { try SlotFile(text: text) }
        #expect(error?.reason == .newerSlotFile)
    }

    @Test("opens by a slot behind one whose derivation the provider has not")
    func untried() throws {
        let argon2id = KeyDerivation.argon2id(memory: 65_536, passes: 3, lanes: 4)
        let slot = KeySlot(
            id: "00000000", label: "elsewhere", created: Date(timeIntervalSince1970: 0), kind: .passphrase,
            derivation: argon2id)
        let entry = KeySlot.Entry(
            slot: slot, salt: [UInt8](repeating: 1, count: 32), wrapped: [UInt8](repeating: 1, count: 40))
        let mixed = try SlotFile(salt: file.salt, epoch: 1, entries: [entry] + file.entries, dataKey: dataKey)
        let opened = try mixed.unlock(SecretBytes(copying: [1]), preferred: nil, KeySlotDeriver())
        #expect(opened.slot == file.slots[0] && opened.dataKey.isEqual(to: dataKey))
        let error = #expect(throws: DatabaseError.self) {
            try mixed.unlock(SecretBytes(copying: [2]), preferred: nil, KeySlotDeriver())
        }
        #expect([.unsupportedDerivation, .wrongKey].contains(error?.reason))
    }

    @Test("with more slots, or more work in all of them, than is allowed is refused before anything is derived")
    func manySlots() throws {
        func file(_ count: Int, _ derivation: KeyDerivation) throws -> SlotFile {
            let entries = try (0..<count).map { number in
                let digits = "0000000" + String(number, radix: 32), kind = KeySlot.Kind.passphrase
                let slot = KeySlot(
                    id: hexadecimal([0, 0, 0, UInt8(number)]), label: digits,
                    created: Date(timeIntervalSince1970: 0), kind: kind, derivation: derivation)
                let salt = try Array(Salt.random().bytes + Salt.random().bytes)
                return KeySlot.Entry(slot: slot, salt: salt, wrapped: Array(repeating: 1, count: 40))
            }
            return try SlotFile(salt: .random(), epoch: 1, entries: entries, code: Array(repeating: 0, count: 32))
        }
        #expect(try SlotFile(text: file(32, .standard).text).slots.count == 32)
        #expect(try file(32, .standard).text.count < SlotFile.largestSize)
        let limits: [(Int, KeyDerivation, DatabaseError.Reason)] = [
            (33, .cheap, .unfitKeySlot), (5, .scrypt(logN: 20, r: 8, p: 2), .excessiveKeyCost),
        ]
        for (count, derivation, reason) in limits {
            let text = try file(count, derivation).text
            let error = #expect(throws: DatabaseError.self) { try SlotFile(text: text) }
            #expect(error?.reason == reason)
        }
        let text = [UInt8](repeating: 65, count: SlotFile.largestSize + 1)
        let long = #expect(throws: DatabaseError.self) { try SlotFile(text: text) }
        #expect(long?.reason == .damagedSlotFile)
    }
}

@Suite("A recovery code")
struct RecoveryCodeTests {
    @Test("is read as it is shown, and hardly a slip is missed", arguments: 0..<5)
    func slips(_ round: Int) throws {
        let code = try RecoveryCode()
        let text = try code.withText { Array($0) }
        func typed(_ text: [UInt8]) throws -> RecoveryCode? { try text.withUnsafeBytes { try RecoveryCode(typed: $0) } }
        #expect(try typed(text)?.secret.isEqual(to: code.secret) == true)
        var missed = 0
        for index in text.indices where text[index] != UInt8(ascii: "-") {
            for digit in "0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8 where digit != text[index] {
                var slip = text
                slip[index] = digit
                if try typed(slip) != nil { missed += 1 }
                #expect(slip.withUnsafeBytes(RecoveryCode.resembles))
            }
        }
        // Of 1,085 slips, 0.03 on average: four come about once in twenty million rounds.
        #expect(missed < 4)
    }

    @Test("is distinguished from passphrases")
    func others() throws {
        let letters = String(repeating: "A", count: 34)
        let others = ["", "correct horse", letters + "A", letters, "Ü" + letters]
        for text in others {
            #expect(try Array(text.utf8).withUnsafeBytes { try RecoveryCode(typed: $0) } == nil)
        }
        #expect(try "\(RecoveryCode())" == "RecoveryCode(…)")
    }
}
