import Foundation
import Workload

extension GrowthWork {
    /// Opening with the last slot tries all before it.
    func keySlots() throws -> Double {
        let slots = try openWithSlots(0) { db in
            try db.execute(sql: "CREATE TABLE growing (i)")
            return try db.keySlots()
        }
        for n in 1..<size { try slots.add(.passphrase("passphrase \(n)"), slot(n)) }
        let start = now()
        _ = try openWithSlots(size - 1) { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") }
        return (now() - start) / Double(size)
    }

    private func openWithSlots<T>(_ n: Int, _ work: (Database) throws -> T) throws -> T {
        var encryption = Encryption(key: .passphrase("passphrase \(n)"))
        encryption.keySlots.creating = slot(0)
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.write(work)
    }

    private func slot(_ n: Int) -> NewKeySlot {
        NewKeySlot(label: "slot \(n)", derivation: .pbkdf2(rounds: 210_000))
    }
}
