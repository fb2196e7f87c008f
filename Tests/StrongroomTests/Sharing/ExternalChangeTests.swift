import Dispatch
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Observations of a database that others change", .timeLimit(.minutes(2)))
struct ExternalChangeTests {
    @Test("see each commit of the stock shell, with each journal mode", arguments: JournalKind.allCases)
    func queue(journal: JournalKind) async throws {
        let file = try SharedFile(journal), queue = try file.open(.queue)
        try await expectCommitsAreSeen(in: queue, by: file.shell(journal))
    }

    @Test("of a pool see each commit of the stock shell", arguments: [WriterKind.pool, .anyWriter])
    func pool(kind: WriterKind) async throws {
        let file = try SharedFile(), pool = try file.open(kind)
        try await expectCommitsAreSeen(in: pool, by: file.shell())
    }

    private func expectCommitsAreSeen(in writer: any DatabaseWriter, by shell: RunningShell) async throws {
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for count in 1...5 {
            try shell.insertWine()
            try await notified.reaches(count)
        }
        #expect(notified.errors.isEmpty)
        observation.cancel()
        try writer.close()
    }

    @Test("see the commits of another connection of the same process", arguments: WriterKind.allCases)
    func otherConnection(kind: WriterKind) async throws {
        let file = try SharedFile(), writer = try file.open(kind)
        let other = try DatabaseQueue(path: file.path, configuration: .encrypted())
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for count in 1...5 {
            try await other.write { try $0.insertWine() }
            try await notified.reaches(count)
        }
        observation.cancel()
    }

    @Test("get no change of their own twice", arguments: [WriterKind.queue, .pool])
    func ownCommits(kind: WriterKind) async throws {
        let file = try SharedFile(), writer = try file.open(kind), shell = try file.shell()
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for count in 1...20 {
            try await writer.write { try $0.insertWine() }
            try await notified.reaches(count)
        }
        // The events of the own commits were handled before.
        try shell.insertWine()
        try await notified.reaches(21)
        #expect(notified.values == Array(0...21))
        observation.cancel()
    }

    @Test("see nothing of others by default, and pay nothing")
    func byDefault() async throws {
        #expect(!Configuration().observesExternalChanges)
        let file = try SharedFile(), queue = try file.open(.queue, .encrypted())
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        try file.shell().insertWine()
        try await queue.write { try $0.insertWine() }
        try await notified.reaches(2)
        #expect(notified.values == [0, 2])
        observation.cancel()
    }

    @Test("that may only read see the commits of others", arguments: [WriterKind.queue, .pool])
    func readOnly(kind: WriterKind) async throws {
        let file = try SharedFile()
        var configuration = Configuration.watching()
        configuration.readonly = true
        let shell = try file.shell()
        try shell.insertWine()
        let reader = try file.open(kind, configuration)
        try await expectOneMore(than: 1, in: reader, by: shell)
    }

    private func expectOneMore(than count: Int, in writer: any DatabaseWriter, by shell: RunningShell) async throws {
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(count)
        try shell.insertWine()
        try await notified.reaches(count + 1)
        observation.cancel()
    }

    @Test("fetch again, and drop equal values only where duplicates are removed")
    func duplicates() async throws {
        let file = try SharedFile(), pool = try file.open(.pool), shell = try file.shell()
        try shell.run("CREATE TABLE note (id INTEGER PRIMARY KEY);")
        let all = Notified<Int>(), distinct = Notified<Int>()
        let observations = [
            trackingWineCount().notify(all, in: pool),
            trackingWineCount().removeDuplicates().notify(distinct, in: pool),
        ]
        try await all.reaches(0)
        try await distinct.reaches(0)
        let former = all.values.count
        try shell.run("INSERT INTO note DEFAULT VALUES;")
        #expect(try await eventually { all.values.count == former + 1 })
        try shell.insertWine()
        try await distinct.reaches(1)
        #expect(distinct.values == [0, 1])
        for observation in observations { observation.cancel() }
    }

    @Test("that are shared, or are sequences, see the commits of others")
    func otherShapes() async throws {
        let file = try SharedFile(), pool = try file.open(.pool), shell = try file.shell()
        let shared = trackingWineCount().shared(in: pool, scheduling: .async(onQueue: DispatchQueue(label: "shared")))
        let notified = Notified<Int>()
        let subscription = shared.start(onError: notified.onError, onChange: notified.onChange)
        try await notified.reaches(0)
        for try await count in trackingWineCount().values(in: pool) {
            if count == 1 { break }
            try shell.insertWine()
        }
        try await notified.reaches(1)
        subscription.cancel()
    }

    @Test("see on resumption the commits during a suspension", arguments: [JournalKind.wal, .delete])
    func suspension(journal: JournalKind) async throws {
        let file = try SharedFile(journal), queue = try file.open(.queue), shell = try file.shell(journal)
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: queue)
        try await notified.reaches(0)
        queue.suspend()
        for _ in 1...3 { try shell.insertWine() }
        #expect(notified.values == [0])
        queue.resume()
        try await notified.reaches(3)
        observation.cancel()
    }

    @Test("fetch once more, however many commits come while they fetch")
    func storm() async throws {
        let file = try SharedFile(), pool = try file.open(.pool), shell = try file.shell()
        let fetches = Shared(0), isHeld = Gate(), mayEnd = Gate()
        let notified = Notified<Int>()
        let observation = ValueObservation.tracking { db in
            let count = try db.countWines()
            if fetches.update({
                $0 += 1
                return $0
            }) == 2 {
                isHeld.open()
                mayEnd.pass()
            }
            return count
        }.notify(notified, in: pool)
        try await notified.reaches(0)
        try shell.insertWine()
        try await onThread { isHeld.pass() }
        for _ in 1...50 { try shell.insertWine() }
        try settle(pool)
        mayEnd.open()
        try await notified.reaches(51)
        // One for all that came meanwhile, and one for what may have come after its beginning.
        #expect(fetches.value <= 4)
        observation.cancel()
    }

    @Test("leave no trace of looking among the statements of the program")
    func trace() async throws {
        let file = try SharedFile(), shell = try file.shell(), statements = Shared<[String]>([])
        var configuration = Configuration.watching()
        configuration.prepareDatabase { db in
            db.trace { event in statements.update { $0.append("\(event)") } }
        }
        let queue = try file.open(.queue, configuration)
        try await expectOneMore(than: 0, in: queue, by: shell)
        #expect(statements.value.contains { $0.contains("COUNT(*) FROM wine") })
        #expect(!statements.value.contains { $0.contains("data_version") || $0.contains("busy_timeout") })
    }

    @Test("A database in memory has no others: the setting is ignored")
    func memory() throws {
        let queue = try DatabaseQueue(configuration: .watching())
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
        try queue.close()
    }
}
