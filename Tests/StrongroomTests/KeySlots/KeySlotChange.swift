import Foundation
import Testing

@testable import Strongroom

/// A change of the key slots of a database `db` in a folder, to be killed or to fail at any of its changes of files.
enum KeySlotChange: String, CaseIterable, Sendable {
    case create, change, add, remove, restore, copy, renew, give, take

    /// Makes the database that is changed.
    func prepare(_ folder: String) throws {
        guard self != .create else { return }
        let queue = try Self.open(folder + "/db", former, creating: self != .give)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        switch self {
        case .remove, .renew:
            try queue.keySlots().add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
        case .restore:
            try Data(queue.keySlots().backup()).write(to: URL(fileURLWithPath: folder + "/backup"))
            try queue.keySlots().change("first", to: .passphrase("second"))
        default: break
        }
        try queue.close()
    }

    func run(_ folder: String) throws {
        let path = folder + "/db", first = Encryption(key: .passphrase("first"))
        guard self != .restore else {
            _ = try KeySlots.restore(folder + "/backup", path: path, encryption: first, replacing: true)
            return
        }
        let queue = try open(path, former)
        try change(queue, folder)
        try queue.close()
    }

    private func change(_ queue: DatabaseQueue, _ folder: String) throws {
        let new = NewKeySlot(label: "new", derivation: .cheap)
        switch self {
        case .create: try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        case .change: try queue.keySlots().change("first", to: .passphrase("new"))
        case .add: try queue.keySlots().add(.passphrase("new"), new)
        case .remove: try queue.keySlots().remove("second")
        case .copy: try queue.vacuum(into: folder + "/copy")
        case .renew: try queue.rotateKey(.keeping([.passphrase("first")], droppingOthers: true))
        case .give: try queue.rotateKey(.creating(new, secret: .passphrase("new")))
        case .take: try queue.rotateKey(.removing(newKey: .passphrase("new")))
        case .restore: break
        }
    }

    private var former: String { self == .give ? "plain" : "first" }

    // MARK: - Outcomes

    /// The secrets that open the database before the change, and those that do after it.
    var outcomes: (before: Set<String>, after: Set<String>) {
        switch self {
        case .create: (["first"], ["first"])
        case .change, .take: (["first"], ["new"])
        case .add: (["first"], ["first", "new"])
        case .remove, .renew: (["first", "second"], ["first"])
        case .restore: (["second"], ["first"])
        case .copy: (["first"], ["first"])
        case .give: (["plain"], ["new"])
        }
    }

    /// Returns the secrets that open the database, whose row is there, and checks that nothing else is left.
    func opened(_ folder: String) throws -> Set<String> {
        let path = folder + "/db"
        var secrets: Set<String> = []
        for secret in outcomes.before.union(outcomes.after) {
            do {
                let queue = try open(path, secret)
                if self == .create {
                    try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
                } else {
                    try requireRow(queue)
                }
                try queue.close()
                secrets.insert(secret)
            } catch let error as DatabaseError where error.isWrongKeyError {
                continue
            }
        }
        let suffixes = ["-keys-next", "-keys-new", "-salt-next"]
        let left = suffixes.filter { FileManager.default.fileExists(atPath: path + $0) }
        guard left.isEmpty else { throw DatabaseError(message: "\(left) are left") }
        if FileManager.default.fileExists(atPath: folder + "/copy") {
            try requireRow(DatabaseQueue(path: folder + "/copy", configuration: .slots("first")))
        }
        return secrets
    }

    private func requireRow(_ queue: DatabaseQueue) throws {
        let row = try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
        guard row == 1 else { throw DatabaseError(message: "the row is lost") }
    }

    private func open(_ path: String, _ passphrase: String) throws -> DatabaseQueue {
        try Self.open(path, passphrase, creating: self == .create)
    }

    /// Opens by a slot, or by a passphrase that is cheap to derive.
    private static func open(_ path: String, _ passphrase: String, creating: Bool) throws -> DatabaseQueue {
        var configuration = Configuration.slots(passphrase, creating: creating)
        configuration.encryption?.settings.kdfIterations = 1000
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
