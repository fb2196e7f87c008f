import Foundation
import Strongroom

/// A way to create a database.
enum CreationWay: String {
    case slots, slotsWithHeader = "slots-header", passphrase, header, managed

    func configuration(_ store: FileKeyStore) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.defaultTransactionKind = .immediate
        var encryption = Encryption(
            key: .passphrase("secret of \(rawValue)"), settings: CipherSettings(kdfIterations: 1000))
        if self == .managed { encryption.key = .managed(by: store) }
        if self == .slots || self == .slotsWithHeader {
            encryption.keySlots.creating = NewKeySlot(label: rawValue, derivation: .pbkdf2(rounds: 210_000))
        }
        if self == .header || self == .slotsWithHeader { encryption.plaintextHeader = PlaintextHeader() }
        configuration.encryption = encryption
        return configuration
    }
}

extension SharingWorkload {
    /// Creates the database. Ends with 3 if another process has created it.
    static func create(_ path: String, _ way: CreationWay, _ store: FileKeyStore) throws {
        _ = readLine()
        do {
            let queue = try DatabaseQueue(path: path, configuration: way.configuration(store))
            defer { try? queue.close() }
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE mark (author TEXT)")
                try db.execute(sql: "INSERT INTO mark VALUES (?)", arguments: [way.rawValue])
            }
        } catch is DatabaseError {
            exit(3)
        }
    }
}
