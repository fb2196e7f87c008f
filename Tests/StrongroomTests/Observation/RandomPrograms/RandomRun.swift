import CSQLCipher
import Foundation
import Strongroom
import TestSupport
import Testing

/// One random program, run by Strongroom and in plain C side by side, and compared after each step.
final class RandomRun {
    let writer: any DatabaseWriter
    private let folder: TemporaryFolder
    private let configuration: Configuration
    private let plain: PlainConnection

    /// A connection that sees what is committed.
    private let committed: PlainConnection
    private let recorder = EventRecorder()
    private let endings = Shared<[PlainConnection.Hook]>([])
    private var awaitedEndings = 0
    private var observations: [Int: Observation] = [:]

    /// The steps so far, for the message of a failure.
    private var history: [String] = []
    private var program: RandomProgram

    private struct Observation {
        let values: Shared<[String]?>
        let changes: Shared<Int>
        let cancellables: [AnyDatabaseCancellable]
    }

    init(_ kind: WriterKind, seed: UInt64) throws {
        program = RandomProgram(seed: seed)
        var configuration = Configuration.encrypted()
        configuration.allowsUnsafeTransactions = true
        configuration.busyMode = .timeout(10)
        self.configuration = configuration
        (writer, folder) = try kind.make(configuration)
        plain = PlainConnection(path: folder.path("plain.sqlite"))
        committed = PlainConnection(path: folder.path("plain.sqlite"))
        try writer.writeWithoutTransaction { db in
            try db.execute(sql: RandomProgram.schema)
            db.add(transactionObserver: recorder)
        }
        // The fixture's table: VACUUM counts it.
        precondition(plain.run("CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") == SQLITE_OK)
        precondition(plain.run(RandomStatement(sql: RandomProgram.schema)).code == SQLITE_OK)
    }

    deinit {
        for observation in observations.values { for each in observation.cancellables { each.cancel() } }
        try? writer.close()
    }

    func run(steps: Int) throws {
        for number in 1...steps {
            if history.count > 30 { history.removeFirst() }
            let isInTransaction = plain.isInTransaction
            let former = committedValues()
            recorder.end = nil
            let step = program.step(inTransaction: isInTransaction)
            history.append("\(number): \(step)")
            do {
                try run(step)
                try compare(former)
                if number % 5 == 0 { try awaitValues() }
            } catch {
                expect(false, "\(error)")
            }
            if failed { return }
        }
        if plain.isInTransaction { try run(RandomStatement(sql: "ROLLBACK")) }
        try awaitValues()
    }

    private(set) var failed = false

    private func expect(_ condition: Bool, _ comment: @autoclosure () -> String) {
        if condition || failed { return }
        failed = true
        Issue.record("\(comment())\n\(history.joined(separator: "\n"))")
    }

    // MARK: - Steps

    private func run(_ step: RandomStep) throws {
        switch step {
        case .run(let statement): try run(statement)
        case .block(let statements, let isSavepoint, let fails):
            try runBlock(statements, isSavepoint: isSavepoint, fails: fails)
        case .foreign(let sql):
            let other = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
            let code = other.inDatabase { db in self.code { try db.execute(sql: sql) } }
            try other.close()
            expect(committed.run(sql) == code, "another connection's result is \(code)")
        case .observe(let query): try observe(query)
        }
    }

    private func code(_ body: () throws -> Void) -> CInt {
        do {
            try body()
            return SQLITE_OK
        } catch {
            return (error as? DatabaseError)?.extendedResultCode.rawValue ?? -1
        }
    }

    private func run(_ statement: RandomStatement) throws {
        let awaitsEnd = program.number(1...4) == 1
        let isCached = program.number(1...2) == 1
        let code = writer.writeWithoutTransaction { db in
            if awaitsEnd { self.awaitEnd(db) }
            return self.code {
                if isCached {
                    try db.cachedStatement(sql: statement.sql).execute()
                } else {
                    try db.execute(sql: statement.sql)
                }
            }
        }
        let result = plain.run(statement)
        expect(code == result.code, "the result is \(code), and \(result.code) in C")
        note(result.end)
        if plain.isInTransaction {
            expect(endings.value.isEmpty, "a callback comes before the end")
        } else if awaitedEndings > 0 {
            // Otherwise the transaction of a fetch would be the next one.
            try writer.writeWithoutTransaction { try $0.execute(sql: "BEGIN; COMMIT") }
            _ = runPlain(RandomStatement(sql: "BEGIN"))
            _ = runPlain(RandomStatement(sql: "COMMIT"))
        }
    }

    /// Runs statements until one of them fails, as a block of a transaction or of a savepoint does.
    private func runBlock(_ statements: [RandomStatement], isSavepoint: Bool, fails: Bool) throws {
        let code = writer.writeWithoutTransaction { db in
            self.code {
                let block = { () throws -> Database.TransactionCompletion in
                    for statement in statements { try db.execute(sql: statement.sql) }
                    return fails ? .rollback : .commit
                }
                isSavepoint ? try db.inSavepoint(block) : try db.inTransaction(nil, block)
            }
        }
        let result = runPlainBlock(statements, isInner: isSavepoint && plain.isInTransaction, fails: fails)
        expect(code == result, "the block's result is \(code), and \(result) in C")
    }

    private func runPlainBlock(_ statements: [RandomStatement], isInner: Bool, fails: Bool) -> CInt {
        let release = RandomStatement(sql: "RELEASE grdb", savepoint: .release("grdb"))
        var result =
            isInner
            ? runPlain(RandomStatement(sql: "SAVEPOINT grdb", savepoint: .begin("grdb")))
            : runPlain(RandomStatement(sql: "BEGIN"))
        guard result == SQLITE_OK else { return result }
        for statement in statements where result == SQLITE_OK { result = runPlain(statement) }
        if result == SQLITE_OK, !fails {
            result = runPlain(isInner ? release : RandomStatement(sql: "COMMIT"))
            if result == SQLITE_OK { return result }
        }
        guard plain.isInTransaction else { return result }
        if isInner {
            _ = runPlain(RandomStatement(sql: "ROLLBACK TO grdb", savepoint: .rollBack("grdb")))
            _ = runPlain(release)
        } else {
            _ = runPlain(RandomStatement(sql: "ROLLBACK"))
        }
        return result
    }

    private func runPlain(_ statement: RandomStatement) -> CInt {
        let result = plain.run(statement)
        note(result.end)
        return result.code
    }

    private func awaitEnd(_ db: Database) {
        awaitedEndings += 1
        let endings = endings
        db.afterNextTransaction(
            onCommit: { _ in endings.update { $0.append(.commit) } },
            onRollback: { _ in endings.update { $0.append(.rollback) } })
    }

    // MARK: - Comparisons

    /// Compares what has been notified of the end of a transaction.
    private func note(_ end: PlainConnection.Hook?) {
        guard let end else { return }
        let notified = endings.update { endings in
            defer { endings = [] }
            return endings
        }
        let awaited = Array(repeating: end, count: awaitedEndings)
        expect(notified == awaited, "the callbacks are notified \(notified), not \(awaited)")
        awaitedEndings = 0
        expect(recorder.end == end, "the observer is notified \(String(describing: recorder.end)), not \(end)")
        guard end == .commit else { return }
        let events = plain.committedEvents
        expect(recorder.committed == events, "events: \(recorder.committed), in C \(events)")
    }

    private func compare(_ former: [Int: [String]]) throws {
        let queries = RandomProgram.contents
        let state = try writer.writeWithoutTransaction { db in
            (db.isInsideTransaction, db.changesCount, db.lastInsertedRowID, try queries.map { try db.values($0) })
        }
        expect(state.0 == plain.isInTransaction, "open transaction: \(state.0)")
        let contents = queries.map { plain.values($0) }
        expect(state.3 == contents, "contents: \(state.3), in C \(contents)")
        expect(state.1 == plain.changes, "changes: \(state.1), in C \(plain.changes)")
        expect(state.2 == plain.lastRowID, "rowid: \(state.2), in C \(plain.lastRowID)")
        // Regions are notified before the next access.
        for (query, now) in committedValues() {
            guard let before = former[query], before != now else { continue }
            let isTold = observations[query].map { $0.changes.value > 0 } == true
            expect(isTold, "\(RandomProgram.observed[query]): no region observation is notified of \(before) -> \(now)")
        }
        for observation in observations.values { observation.changes.update { $0 = 0 } }
    }

    /// The committed values of the observed queries.
    private func committedValues() -> [Int: [String]] {
        observations.reduce(into: [:]) { $0[$1.key] = committed.values(RandomProgram.observed[$1.key]) }
    }

    // MARK: - Observations

    private func observe(_ query: Int) throws {
        observations.removeValue(forKey: query)?.cancellables.forEach { $0.cancel() }
        let sql = RandomProgram.observed[query]
        let values = Shared<[String]?>(nil), changes = Shared(0)
        let observation = ValueObservation.tracking { try $0.values(sql) }
        let value = observation.start(
            in: writer, scheduling: .async(onQueue: DispatchQueue(label: "values")),
            onError: { Issue.record($0) }, onChange: { new in values.update { $0 = new } })
        let region = try DatabaseRegionObservation(tracking: SQLRequest<Row>(sql: sql)).start(in: writer) { _ in
            changes.update { $0 += 1 }
        }
        observations[query] = Observation(values: values, changes: changes, cancellables: [value, region])
    }

    /// Awaits the last values, which are those that others see.
    private func awaitValues() throws {
        // A queue's observation that begins in a transaction sees its changes.
        if plain.isInTransaction, writer is DatabaseQueue { return }
        for (query, observation) in observations {
            let sql = RandomProgram.observed[query]
            let expected = committed.values(sql)
            let end = Date().addingTimeInterval(10)
            while observation.values.value != expected, Date() < end { usleep(200) }
            let last = observation.values.value
            expect(last == expected, "\(sql): the last value is \(String(describing: last)), not \(expected)")
        }
    }
}

/// Records the rows of each transaction, and how it ended.
private final class EventRecorder: TransactionObserver, @unchecked Sendable {
    private var events: [String] = []
    private(set) var committed: [String] = []
    var end: PlainConnection.Hook?

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) {
        guard RandomProgram.tables.contains(event.tableName) else { return }
        events.append("\(event.kind.rawValue) \(event.tableName) \(event.rowID)")
    }

    func databaseDidCommit(_ db: Database) {
        (committed, events, end) = (events, [], .commit)
    }

    func databaseDidRollback(_ db: Database) {
        (events, end) = ([], .rollback)
    }
}

extension Database {
    fileprivate func values(_ sql: String) throws -> [String] {
        try String.fetchAll(self, sql: sql).sorted()
    }
}
