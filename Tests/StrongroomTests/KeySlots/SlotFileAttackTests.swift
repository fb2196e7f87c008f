import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Attacks by a user who can write the slot file, and has no secret of it.
@Suite("A slot file in foreign hands")
struct SlotFileAttackTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
        let pool = try makeSlots(path, "first")
        try pool.keySlots().add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
        try pool.close()
    }

    private func text(of path: String? = nil) throws -> String {
        try String(contentsOfFile: (path ?? self.path) + "-keys", encoding: .utf8)
    }

    private func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path + "-keys")) }

    /// The lines of the slots, seven each.
    private func slots(_ text: String) -> [String] {
        text.components(separatedBy: "\nslot ").dropFirst().map { $0.components(separatedBy: "\ncode ")[0] }
    }

    private func reason(
        _ passphrase: String = "first", _ configure: (inout Configuration) -> Void = { _ in }
    ) -> DatabaseError.Reason? {
        var configuration = Configuration.slots(passphrase)
        configure(&configuration)
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        return error?.reason
    }

    @Test("can't lower the cost of a slot")
    func downgrade() throws {
        let text = try text()
        try write(text.replacing("scrypt 14 8 1", with: "scrypt 13 8 1"))
        #expect(reason() == .weakKeyCost)
        try write(text.replacing("scrypt 14 8 1", with: "scrypt 15 8 1"))
        #expect(reason() == .wrongKey)
        try write(text.replacing("scrypt 14 8 1", with: "pbkdf2-sha512 210000"))
        #expect(reason() == .wrongKey)
    }

    @Test(
        "can't take minutes or gigabytes", .timeLimit(.minutes(1)),
        arguments: [
            "scrypt 23 8 16", "scrypt 20 32 1", "scrypt 62 8 1", "argon2id 4194304 1 1", "pbkdf2-sha512 100000000000",
        ])
    func hugeCost(_ derivation: String) throws {
        try write(try text().replacing("scrypt 14 8 1", with: derivation))
        #expect(reason() == .excessiveKeyCost)
    }

    @Test("can't be changed without being detected")
    func labels() throws {
        let text = try text()
        try write(text.replacing("label second", with: "label mallory"))
        #expect(reason("first") == .forgedSlotFile && reason("second") == .forgedSlotFile)
        try write(text.replacing("\nepoch 1", with: "\nepoch 2"))
        #expect(reason() == .forgedSlotFile)
        try write(text.replacing("kind passphrase", with: "kind credential"))
        #expect(reason() == .forgedSlotFile)
    }

    private func exchanging(_ first: String, _ second: String, in text: String) -> String {
        text.replacing(first, with: "X").replacing(second, with: first).replacing("X", with: second)
    }

    @Test("can't swap slots or their contents")
    func swapped() throws {
        let text = try text(), slots = slots(text)
        try write(exchanging(slots[0], slots[1], in: text))
        #expect(reason() == .forgedSlotFile)
        let wrapped = slots.map { $0.components(separatedBy: "\n")[6] }
        try write(exchanging(wrapped[0], wrapped[1], in: text))
        #expect(reason() == .wrongKey)
    }

    @Test("can't add a slot, of another database or of their own")
    func added() throws {
        let other = folder.path("other.sqlite"), text = try text()
        try makeSlots(other, "mallory").close()
        let foreign = try slots(self.text(of: other))[0]
        try write(text.replacing("\ncode ", with: "\nslot \(foreign)\ncode "))
        #expect(reason("first") == .forgedSlotFile)
        #expect(reason("mallory") == .forgedSlotFile)
        try write(text.replacing(slots(text)[1], with: foreign))
        #expect(reason("first") == .forgedSlotFile)
    }

    @Test("can't drop a slot, or bring a removed one back")
    func removed() throws {
        let old = try text()
        try write(old.replacing("\nslot " + slots(old)[1], with: ""))
        #expect(reason() == .forgedSlotFile)
        try write(old)
        try KeySlots.open(path: path, encryption: Encryption(key: .passphrase("first"))).remove("second")
        try write(try text().replacing("\ncode ", with: "\nslot \(slots(old)[1])\ncode "))
        #expect(reason("second") == .forgedSlotFile)
    }

    @Test("are detected with an old copy if the caller or an open database knows the epoch")
    func oldCopy() throws {
        let old = try text(), pool = try DatabasePool(path: path, configuration: .slots("first"))
        let slots = try pool.keySlots()
        try slots.remove("second")
        let epoch = try slots.epoch
        try write(old)
        #expect(reason { $0.encryption?.keySlots.leastEpoch = epoch } == .olderSlotFile)
        let error = #expect(throws: DatabaseError.self) { try slots.slots }
        #expect(error?.reason == .olderSlotFile)
        let change = #expect(throws: DatabaseError.self) { try slots.remove("second") }
        #expect(change?.reason == .olderSlotFile)
        // Without that number the replay is not detected: the threat model says so.
        #expect(try value(path, "second") == 1)
    }

    @Test("are detected with the slot file of another database, or from before a renewal of the data key")
    func foreign() throws {
        let other = folder.path("other.sqlite"), own = try text()
        try makeSlots(other, "first").close()
        try write(try text(of: other))
        #expect(reason() == .foreignSlotFile)
        #expect(try DatabaseFile.inspect(path: path).slotFileProblems.contains(.foreign))
        try write(own)
        let queue = try DatabaseQueue(path: path, configuration: .slots("first"))
        try queue.rotateKey(.keeping([.passphrase("first")], droppingOthers: true))
        try queue.close()
        try write(own)
        #expect(reason("second") == .foreignSlotFile)
        #expect(try DatabaseFile.inspect(path: path).slotFileProblems.contains(.foreign))
    }

    @Test("that was mutated opens nothing, or the database, and the error has a reason")
    func mutations() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: path + "-keys"))
        var random = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            var changed = whole
            changed[Int.random(in: 0..<whole.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try changed.write(to: URL(fileURLWithPath: path + "-keys"))
            #expect(reason() != nil)
        }
        try whole.write(to: URL(fileURLWithPath: path + "-keys"))
        #expect(try value(path, "first") == 1)
    }
}
