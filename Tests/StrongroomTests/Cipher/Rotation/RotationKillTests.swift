import Foundation
import Strongroom
import TestSupport
import Testing

/// `kill -9` in the middle of changes of key. `STRONGROOM_KILLS` is the number of kills. `scripts/campaign kills` kills
/// processes beside others, too.
@Suite("A rotation killed with kill -9")
struct RotationKillTests {
    private static let kills =
        ProcessInfo.processInfo.environment["STRONGROOM_KILLS"].flatMap { Int($0) }
        ?? 40 / Int(Form.step(4, "kills of a rotation"))

    @Test(
        "leaves exactly one key that opens everything, and every committed row", .timeLimit(.minutes(60)),
        arguments: ["wal", "delete"])
    func kill(journalMode: String) async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path, journalMode)
        var tally: [String: Int] = [:]
        for round in 0..<Self.kills / 2 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, round = round as Int] in
                do {
                    try rotateUntilKilled(path, round: round)
                } catch {
                    try Data("\(error)".utf8).write(to: URL(fileURLWithPath: path + ".error"))
                }
            }
            let error = try? String(contentsOfFile: path + ".error", encoding: .utf8)
            try #require(error == nil, "round \(round)")
            let survivors = try ["correct horse", "new horse"].filter { try opens(path, $0) }
            try #require(survivors.count == 1, "round \(round): \(survivors)")
            tally[survivors[0], default: 0] += 1
            try check(path, survivors[0], round)
        }
        #expect(tally.values.reduce(0, +) == Self.kills / 2)
    }

    private func create(_ path: String, _ journalMode: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(journalMode)") }
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE ballast(a INTEGER PRIMARY KEY, b);
                    WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 5000) INSERT INTO \
                    ballast \
                    SELECT x, randomblob(4000) FROM c;
                    CREATE TABLE acknowledged(a INTEGER PRIMARY KEY);
                    """)
        }
        try Data().write(to: URL(fileURLWithPath: path + ".acknowledged"))
    }

    private func check(_ path: String, _ passphrase: String, _ round: Int) throws {
        let queue = try DatabaseQueue(path: path, configuration: .encrypted(passphrase: passphrase))
        let rows = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM acknowledged") } ?? 0
        let acknowledged = try Data(contentsOf: URL(fileURLWithPath: path + ".acknowledged")).count
        // The kill may come between a commit and its acknowledgement.
        #expect((acknowledged...acknowledged + round + 1).contains(rows), "round \(round)")
        let report = try queue.checkIntegrity()
        #expect(report.isIntact, "round \(round): \(report)")
        #expect(try DatabaseFile.inspect(path: path).isRotationPending == false, "round \(round)")
    }
}

private func opens(_ path: String, _ passphrase: String) throws -> Bool {
    do {
        _ = try DatabaseQueue(path: path, configuration: .encrypted(passphrase: passphrase))
        return true
    } catch let error as DatabaseError where error.isWrongKeyError {
        return false
    }
}

/// Runs in a process of its own: writes, reads and changes keys until it kills itself, on an even round at a page, on
/// an odd one at a moment, so that commit, verification and checkpoint are hit, too.
private func rotateUntilKilled(_ path: String, round: Int) throws {
    var passphrase = "correct horse", other = "new horse"
    if try !opens(path, passphrase) { swap(&passphrase, &other) }
    var configuration = Configuration.encrypted(passphrase: passphrase)
    configuration.busyMode = .timeout(10)
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    let acknowledgements = try FileHandle(forWritingTo: URL(fileURLWithPath: path + ".acknowledged"))
    try acknowledgements.seekToEnd()
    Thread.detachNewThread {
        // Load: another connection that reads until its key is the old one, and again.
        while true {
            for name in ["correct horse", "new horse"] {
                guard let reader = try? DatabaseQueue(path: path, configuration: .encrypted(passphrase: name)) else {
                    continue
                }
                while (try? reader.read { try Int.fetchOne($0, sql: "SELECT sum(length(b)) FROM ballast") }) != nil {}
            }
        }
    }
    var page = Int.max
    if round % 2 == 0 {
        page = Int.random(in: 1...5100)
    } else {
        let delay = UInt32.random(in: 0...800_000)
        Thread.detachNewThread {
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
    }
    while true {
        try queue.write { try $0.execute(sql: "INSERT INTO acknowledged DEFAULT VALUES") }
        try acknowledgements.write(contentsOf: [1])
        do {
            try queue.rotateKey(to: .passphrase(other)) { if $0.completedPageCount >= page { kill(getpid(), SIGKILL) } }
            swap(&passphrase, &other)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            continue
        }
    }
}
