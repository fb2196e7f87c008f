import Dispatch
import Strongroom
import Testing

/// Notifies the first value immediately on each thread.
private struct Immediately: ValueObservationScheduler {
    private let queue = DispatchQueue(label: "later")

    func immediateInitialValue() -> Bool { true }
    func schedule(_ action: @escaping @Sendable () -> Void) { queue.async(execute: action) }
}

@Suite("Observations at the edges", .timeLimit(.minutes(1)))
struct ObservationEdgeTests {
    @Test("The number of rows that one key finds is observed in that row only")
    func count() async throws {
        let fixture = try QueueFixture()
        let regions = Shared<[String]>([])
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking { try Table("wine").filter(Column("id") == 1).fetchCount($0) }
            .handleEvents(willTrackRegion: { region in regions.update { $0.append("\(region)") } })
            .notify(notified, in: fixture.queue)
        try await notified.reaches(0)
        cancellable.cancel()
        #expect(regions.value.count == 1)
        #expect(regions.value.allSatisfy { $0.hasSuffix("[1]") })
    }

    @Test(
        "A transaction that an observer rolls back hides no commit from those after it", arguments: WriterKind.allCases)
    func nestedRollback(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let changes = Shared(0), notified = Notified<Int>()
        func observe(_ onChange: @escaping @Sendable (Database) -> Void) throws -> AnyDatabaseCancellable {
            try DatabaseRegionObservation(tracking: Table("wine")).start(in: writer, onChange: onChange)
        }
        let first = try observe { db in
            try? db.inTransaction {
                try db.insertWine()
                return .rollback
            }
        }
        let second = try observe { _ in changes.update { $0 += 1 } }
        let third = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for count in 1...3 {
            try await writer.write { try $0.insertWine() }
            #expect(changes.value == count)
            try await notified.reaches(count)
        }
        for observation in [first, second, third] { observation.cancel() }
        _ = folder
    }

    @Test(
        "A function that writes sees what the observers of its own commit change", arguments: WriterKind.allCases,
        [false, true])
    func changeInOwnCommit(kind: WriterKind, isImmediate: Bool) async throws {
        let (writer, folder) = try kind.make()
        try await writer.write { try $0.execute(sql: "CREATE TABLE visit (id INTEGER PRIMARY KEY)") }
        // Each fetch is a visit, and each visit but the last makes a wine.
        let bar = try DatabaseRegionObservation(tracking: Table("visit")).start(in: writer) { db in
            try? db.inTransaction {
                if try db.countWines() < 5 { try db.insertWine() }
                return .commit
            }
        }
        var observation = ValueObservation.tracking { db in
            try db.execute(sql: "INSERT INTO visit DEFAULT VALUES")
            return try db.countWines()
        }
        observation.requiresWriteAccess = true
        let values = Shared<[Int]>([]), changes = Shared(0)
        func start(_ scheduler: some ValueObservationScheduler) -> AnyDatabaseCancellable {
            observation.handleEvents(databaseDidChange: { changes.update { $0 += 1 } })
                .start(in: writer, scheduling: scheduler) { error in
                    Issue.record(error)
                } onChange: { value in
                    values.update { $0.append(value) }
                }
        }
        let cancellable = isImmediate ? start(Immediately()) : start(.async(onQueue: DispatchQueue(label: "values")))
        #expect(try await eventually { values.value == [0, 1, 2, 3, 4, 5] }, "\(values.value)")
        #expect(changes.value == 5)
        cancellable.cancel()
        bar.cancel()
        _ = folder
    }

    @Test("An observation that starts in a block whose transaction was undone fails, or begins after the block")
    func startInUndoneTransaction() async throws {
        let queue = try QueueFixture().queue
        queue.add(
            function: DatabaseFunction("cut", argumentCount: 0) { _ in
                queue.interrupt()
                return 1
            })
        let region = AnyDatabaseRegionConvertible { db in
            _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine")
            return try Table("wine").databaseRegion(db)
        }
        let errors = Shared(0), changes = Shared(0), values = Shared<[Int]>([]), wasUndone = Shared(false)
        let observations = Shared<[AnyDatabaseCancellable]>([])
        try await onThread {
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { db in
                    try? db.execute(
                        sql: """
                            INSERT INTO wine (name) WITH RECURSIVE n(i) AS (SELECT cut() UNION ALL SELECT i + 1 FROM n)
                            SELECT i FROM n LIMIT 100000000
                            """)
                    wasUndone.update { $0 = !db.isInsideTransaction }
                    let immediate = trackingWineCount().start(
                        in: queue, scheduling: Immediately(), onError: { _ in errors.update { $0 += 1 } },
                        onChange: { count in values.update { $0.append(count) } })
                    let observed = DatabaseRegionObservation(tracking: region).start(
                        in: queue, onError: { Issue.record($0) }, onChange: { _ in changes.update { $0 += 1 } })
                    observations.update { $0 = [immediate, observed] }
                }
            }
            #expect(error?.reason == .transactionAborted || error?.isInterruptionError == true)
        }
        #expect(wasUndone.value)
        #expect(errors.value == 1)
        #expect(values.value.isEmpty)
        try await queue.write { try $0.insertWine() }
        #expect(changes.value == 1)
        for observation in observations.value { observation.cancel() }
    }

    @Test("An observation that has failed is not cancelled afterwards")
    func cancelledAfterFailure() async throws {
        let fixture = try QueueFixture()
        let cancellations = Shared(0)
        let notified = Notified<Int>()
        let failing = ValueObservation.tracking { _ -> Int in throw CancellationError() }
            .handleEvents(didCancel: { cancellations.update { $0 += 1 } })
        let cancellable = failing.notify(notified, in: fixture.queue)
        try await notified.fails()
        cancellable.cancel()
        #expect(cancellations.value == 0)
        let counting = trackingWineCount().handleEvents(didCancel: { cancellations.update { $0 += 1 } })
        let other = counting.notify(notified, in: fixture.queue)
        try await notified.reaches(0)
        other.cancel()
        other.cancel()
        #expect(cancellations.value == 1)
    }

    // MARK: - Open transactions

    private func openTransactions(_ kind: WriterKind) throws -> any DatabaseWriter {
        var configuration = Configuration.encrypted()
        configuration.allowsUnsafeTransactions = true
        return try kind.make(configuration).0
    }

    @Test(
        "An observation that starts while a transaction is open ends with the committed value",
        arguments: WriterKind.allCases,
        [
            ("COMMIT", 1), ("ROLLBACK", 0), ("ROLLBACK TO inner; COMMIT", 0),
            ("RELEASE inner; COMMIT", 1), ("RELEASE inner; ROLLBACK", 0),
        ])
    func startInOpenTransaction(_ kind: WriterKind, end: (sql: String, count: Int)) async throws {
        let writer = try openTransactions(kind)
        try writer.unsafeReentrantWrite { db in
            try db.execute(sql: "BEGIN; SAVEPOINT inner")
            try db.insertWine()
        }
        let notified = Notified<Int>(), changes = Shared(0)
        let cancellable = trackingWineCount().notify(notified, in: writer)
        let region = try DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { _ in
            changes.update { $0 += 1 }
        }
        try await notified.reaches(kind == .queue ? 1 : 0)
        try writer.unsafeReentrantWrite { try $0.execute(sql: end.sql) }
        try await notified.reaches(end.count)
        #expect(changes.value == (end.sql.contains("COMMIT") ? 1 : 0))
        try await writer.writeWithoutTransaction { try $0.insertWine() }
        try await notified.reaches(end.count + 1)
        cancellable.cancel()
        region.cancel()
    }

    @Test("An immediate value of a write that is rolled back is corrected", arguments: WriterKind.allCases)
    func immediateInFailingWrite(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>(), cancellable = Shared<AnyDatabaseCancellable?>(nil)
        let start = {
            trackingWineCount().start(
                in: writer, scheduling: Immediately(), onError: notified.onError,
                onChange: notified.onChange)
        }
        #expect(throws: CancellationError.self) {
            try writer.unsafeReentrantWrite { db in
                try db.inTransaction { () throws in
                    try db.insertWine()
                    cancellable.update { $0 = start() }
                    #expect(notified.values == [kind == .queue ? 1 : 0])
                    throw CancellationError()
                }
            }
        }
        try await notified.reaches(0)
        try await writer.writeWithoutTransaction { try $0.insertWine() }
        try await notified.reaches(1)
        cancellable.value?.cancel()
    }

    @Test("A change of everything does not include SQLite's own tables")
    func internalTables() throws {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY AUTOINCREMENT)")
            let recorder = TransactionRecorder()
            var tables: Set<String> = []
            recorder.observes = { kind in
                tables.insert(kind.tableName)
                return true
            }
            db.add(transactionObserver: recorder)
            try db.notifyChanges(in: .fullDatabase)
            #expect(tables == ["wine"])
            #expect(recorder.log == ["change", "will commit", "commit"])
        }
    }

    @Test("Regions are joined row by row, and column by column")
    func unionOfRows() throws {
        try withRecords { (db) throws in
            let region = try Player.filter(id: 1).databaseRegion(db).union(Player.filter(id: 2).databaseRegion(db))
            #expect(region.description == "player(id,name,score)[1,2]")
            #expect(try region.union(Player.all().databaseRegion(db)).description == "player(id,name,score)")
            let names = try Player.select(Column("name")).databaseRegion(db),
                scores = try Player.select(Column("score")).databaseRegion(db)
            #expect(names.union(scores).description == "player(name,score)")
            #expect(names.union(.fullDatabase).isFullDatabase)
        }
    }

    @Test("Tables of SQLite are not tracked")
    func schemaTable() async throws {
        let fixture = try QueueFixture()
        let regions = Shared<[String]>([])
        let notified = Notified<Int>()
        let tracking = ValueObservation.tracking { db in
            _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master")
            return try db.countWines()
        }
        let cancellable = tracking.handleEvents(willTrackRegion: { region in regions.update { $0.append("\(region)") } }
        )
        .notify(notified, in: fixture.queue)
        try await notified.reaches(0)
        cancellable.cancel()
        #expect(regions.value.count == 1)
        #expect(regions.value.allSatisfy { !$0.contains("sqlite") })
    }

    @Test("Changes of columns are seen in upper and lower case of columns and tables")
    func letters() throws {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE Wine (Id INTEGER PRIMARY KEY, Name TEXT, Score INTEGER)")
            let region = try Table("WINE").select(Column("NAME")).databaseRegion(db)
            #expect(region.isModified(byEventsOfKind: .update(tableName: "Wine", columnNames: ["Name"])))
            #expect(!region.isModified(byEventsOfKind: .update(tableName: "Wine", columnNames: ["Score"])))
            #expect(region.isModified(byEventsOfKind: .insert(tableName: "wine")))
            #expect(!region.isModified(byEventsOfKind: .insert(tableName: "wines")))
        }
    }
}
