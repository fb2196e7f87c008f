import CStrongroom
import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// `STRONGROOM_MEASURE` has the sizes in megabytes; `scripts/campaign key-slots` gives them.
@Suite("The cost of key slots")
struct KeySlotCostTests {
    private static let sizes = (ProcessInfo.processInfo.environment["STRONGROOM_MEASURE"] ?? "")
        .split(separator: " ").compactMap { Int($0) }

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    @Test(
        "is one derivation and 2 ms at opening, and two derivations for a change of passphrase, at any size",
        .enabled(if: !sizes.isEmpty && derivations.count >= 0), .timeLimit(.minutes(30)), arguments: sizes)
    func cost(megabytes: Int) throws {
        let dataKey = try fill(megabytes), first = Encryption(key: .passphrase("secret"))
        var rounds: [[Double]] = []
        for _ in 0..<11 {
            let raw = try measure(derivations: 0) { try open(dataKey) }
            let slot = try measure(derivations: 1) { try open(.passphrase("secret")) }
            let change = try measure(derivations: 2) {
                try KeySlots.open(path: path, encryption: first).change("slot", to: .passphrase("secret"))
            }
            rounds.append([raw.all, slot.deriving, slot.all - slot.deriving, change.all, change.all - change.deriving])
        }
        let figures = rounds[0].indices.map { index in rounds.map { $0[index] }.sorted()[rounds.count / 2] * 1000 }
        let names = [
            "opening with the data key", "derivation", "opening with a slot, less the derivation",
            "change of passphrase", "less two derivations",
        ]
        print(
            "\(megabytes) MB: "
                + zip(names, figures).map { "\($0) \(String(format: "%.1f", $1)) ms" }
                .joined(separator: ", "))
        #expect(figures[2] - figures[0] < 2)
        // Two syncs, which a busy disk makes wait.
        #expect(figures[4] < 200)
    }

    /// Returns the seconds that `body` takes, and those of its derivations.
    private func measure(
        derivations expected: Int64, _ body: () throws -> Void
    ) rethrows -> (all: Double, deriving: Double) {
        let before = Self.derivations, began = ContinuousClock.now
        try body()
        let all = (ContinuousClock.now - began) / .seconds(1), after = Self.derivations
        #expect(after.count - before.count == expected)
        return (all, after.seconds - before.seconds)
    }

    private static var derivations: (count: Int64, seconds: Double) {
        var seconds = 0.0
        return (strongroom_faults_derivations(&seconds), seconds)
    }

    private func fill(_ megabytes: Int) throws -> DatabaseKey {
        var configuration = Configuration.slots("secret")
        configuration.encryption?.keySlots.creating = NewKeySlot(label: "slot")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal; CREATE TABLE t(a)") }
        for _ in 0..<megabytes {
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (zeroblob(1000000))") }
        }
        let key = try queue.keySlots().dataKey
        try queue.close()
        #expect(strongroom_size_of_file(path) > Int64(megabytes) * 1_000_000)
        return key
    }

    private func open(_ key: DatabaseKey) throws {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        _ = try queue.read { try Int.fetchOne($0, sql: "SELECT 1 FROM t LIMIT 1") }
        try queue.close()
    }
}
