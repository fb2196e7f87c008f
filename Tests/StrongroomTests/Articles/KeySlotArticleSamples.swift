import Foundation
import TestSupport
import Testing

@testable import Strongroom

// The samples of the article on key slots, as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the article on key slots")
struct KeySlotArticleSamples {
    struct OlderSlotFile: Error {}

    private func print(_ items: Any...) {}

    @Test("Slots: created, added, changed, renewed, exported, and their epoch kept")
    func keySlots() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), passphrase = "correct horse"
        var encryption = Encryption(key: .passphrase(passphrase))
        encryption.keySlots.creating = NewKeySlot(label: "laptop")
        var configuration = Configuration()
        configuration.encryption = encryption
        let pool = try DatabasePool(path: path, configuration: configuration)

        let slots = try pool.keySlots()
        try slots.add(.passphrase("second passphrase"), NewKeySlot(label: "desktop"))
        let code = try slots.addRecoveryCode()
        try code.withText { print(String(decoding: $0, as: UTF8.self)) }
        try slots.change("laptop", to: .passphrase("new passphrase"))
        try slots.remove("desktop")
        for slot in try slots.slots {
            print(slot.id, slot.label, slot.created, slot.kind, slot.derivation)
        }
        #expect(try slots.slots.map(\.label) == ["laptop", "recovery code"])
        #expect(try slots.slots[0].derivation == .standard)

        let exported = try slots.withDataKeyAndSalt { Data($0) }
        #expect(exported.count == 48)

        let dropped = try slots.slots(notOpenedBy: [.passphrase("new passphrase")])
        print("would be dropped: \(dropped.map(\.label))")
        try pool.rotateKey(.keeping([.passphrase("new passphrase")], droppingOthers: true))
        #expect(dropped.map(\.label) == ["recovery code"])
        try keepEpoch(pool, pool.keySlots())
    }

    private func keepEpoch(_ pool: DatabasePool, _ slots: KeySlots) throws {
        try pool.write { try $0.execute(sql: "CREATE TABLE seen (epoch INTEGER); INSERT INTO seen VALUES (0)") }
        try pool.write { try $0.execute(sql: "UPDATE seen SET epoch = ?", arguments: [slots.epoch]) }

        let seen = try pool.read { try Int.fetchOne($0, sql: "SELECT epoch FROM seen") }
        guard try pool.keySlots().epoch >= seen ?? 0 else { throw OlderSlotFile() }
        #expect(try seen == slots.epoch)
    }
}
