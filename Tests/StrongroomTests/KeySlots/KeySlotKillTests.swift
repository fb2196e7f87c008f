import CStrongroomFaults
import Foundation
@testable import Strongroom
import Testing

/// `kill -9` in front of each change of a file that a change of slots makes.
@Suite("A change of key slots killed with kill -9", .enabled(if: strongroom_faults_operations() >= 0))
struct KeySlotKillTests {
    enum Change: String, CaseIterable, Sendable {
        case create, change, add, remove, renew, give, take

        /// Of a database with the slot "first", and for `remove` and `renew` also "second".
        fileprivate func run(_ path: String) throws {
            let queue = try DatabaseQueue(path: path, configuration: before(path))
            switch self {
            case .create: try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
            case .change: try queue.keySlots().change("first", to: .passphrase("new"))
            case .add: try queue.keySlots().add(.passphrase("new"), NewKeySlot(label: "new", derivation: .cheap))
            case .remove: try queue.keySlots().remove("second")
            case .renew: try queue.rotateKey(.keeping([.passphrase("first")], droppingOthers: true))
            case .give:
                try queue.rotateKey(.creating(NewKeySlot(label: "new", derivation: .cheap), secret: .passphrase("new")))
            case .take: try queue.rotateKey(.removing(newKey: .passphrase("new")))
            }
            try queue.close()
        }

        private func before(_ path: String) -> Configuration {
            .kills(self == .give ? "plain" : "first", creating: self == .create)
        }

        fileprivate func prepare(_ path: String) throws {
            guard self != .create else { return }
            let queue = try DatabaseQueue(
                path: path, configuration: .kills(self == .give ? "plain" : "first", creating: self != .give))
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
            if self == .remove || self == .renew {
                try queue.keySlots().add(.passphrase("second"), NewKeySlot(label: "second", derivation: .cheap))
            }
            try queue.close()
        }

        /// The sets of secrets, one of which opens the database as a whole.
        fileprivate var outcomes: [Set<String>] {
            switch self {
            case .create: [["first"]]
            case .change, .take: [["first"], ["new"]]
            case .add: [["first"], ["first", "new"]]
            case .remove, .renew: [["first", "second"], ["first"]]
            case .give: [["plain"], ["new"]]
            }
        }
    }

    @Test(
        "leaves the secrets of before, or those of after, and every row", .timeLimit(.minutes(10)),
        arguments: Change.allCases)
    func kill(_ change: Change) async throws {
        let folder = try TemporaryFolder(), model = folder.path("model")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
        try change.prepare(model + "/db")
        let count = try operations(change, folder, model)
        #expect(count > 3)
        var seen: Set<Set<String>> = []
        for operation in 0..<count {
            let copy = folder.path("\(operation)"), path = copy + "/db"
            try FileManager.default.copyItem(atPath: model, toPath: copy)
            await #expect(processExitsWith: .signal(SIGKILL), "\(change) before operation \(operation)") {
                [path = path as String, name = change.rawValue as String, operation = operation as Int64] in
                strongroom_faults_kill_after(operation)
                try Change(rawValue: name)!.run(path)
            }
            seen.insert(try opened(change, path))
            try FileManager.default.removeItem(atPath: copy)
        }
        #expect(seen.isSubset(of: Set(change.outcomes)), "\(change): \(seen)")
        #expect(change == .create || seen.count == 2, "\(change): \(seen)")
    }

    /// How many changes of files it takes.
    private func operations(_ change: Change, _ folder: TemporaryFolder, _ model: String) throws -> Int64 {
        let copy = folder.path("counted")
        try FileManager.default.copyItem(atPath: model, toPath: copy)
        strongroom_faults_kill_after(-1)
        try change.run(copy + "/db")
        return strongroom_faults_operations()
    }

    /// Which secrets open the database, whose row is there.
    private func opened(_ change: Change, _ path: String) throws -> Set<String> {
        var secrets: Set<String> = []
        for secret in ["first", "second", "new", "plain"] {
            do {
                let queue = try DatabaseQueue(path: path, configuration: .kills(secret, creating: change == .create))
                if change == .create {
                    try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
                } else {
                    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
                }
                try queue.close()
                secrets.insert(secret)
            } catch let error as DatabaseError where error.isWrongKeyError {
                continue
            }
        }
        #expect(!FileManager.default.fileExists(atPath: path + "-keys-next"))
        #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
        return secrets
    }
}

extension Configuration {
    /// Slots, or a passphrase that is cheap to derive.
    fileprivate static func kills(_ passphrase: String, creating: Bool) -> Configuration {
        var configuration = Configuration.slots(passphrase, creating: creating)
        configuration.encryption?.settings.kdfIterations = 1000
        return configuration
    }
}
