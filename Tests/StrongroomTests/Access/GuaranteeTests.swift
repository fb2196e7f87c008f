import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("The guarantees of safe accesses", .timeLimit(.minutes(2)))
struct GuaranteeTests {
    @Test("A read that gave up its transaction has not seen one state, and fails", arguments: WriterKind.allCases)
    func abandonedRead(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let error = try #require(throws: DatabaseError.self) {
            try writer.read { db in
                try db.execute(sql: "COMMIT")
                #expect(!db.isInsideTransaction)
            }
        }
        #expect(error.resultCode == .SQLITE_ABORT)
        #expect(try writer.read { try $0.countWines() } == 0)
        _ = folder
    }

    @Test("Serialized writes: writes of one writer never overlap", arguments: WriterKind.allCases)
    func serializedWrites(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let inside = Shared(0)
        let overlaps = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await onThread {
                        for _ in 0..<25 {
                            try writer.write { db in
                                if inside.update({
                                    $0 += 1
                                    return $0
                                }) > 1 {
                                    overlaps.update { $0 += 1 }
                                }
                                try db.insertWine()
                                inside.update { $0 -= 1 }
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(overlaps.value == 0)
        #expect(try await writer.read { try $0.countWines() } == 200)
        try writer.close()
        _ = folder
    }

    @Test("Write transactions: a write that throws leaves nothing", arguments: WriterKind.allCases)
    func writeTransactions(kind: WriterKind) throws {
        struct Refusal: Error {}
        let (writer, folder) = try kind.make()
        #expect(throws: Refusal.self) {
            try writer.write { db in
                try db.insertWine()
                #expect(db.isInsideTransaction)
                throw Refusal()
            }
        }
        #expect(try writer.read { try $0.countWines() } == 0)
        writer.writeWithoutTransaction { #expect(!$0.isInsideTransaction) }
        _ = folder
    }

    @Test("Write transactions: concurrent reads never see half of a write")
    func partialUpdatesAreInvisible() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let isHalfway = Gate(), mayFinish = Gate()
        let done = start {
            try! pool.write { db in
                try db.insertWine()
                isHalfway.open()
                mayFinish.pass()
                try db.insertWine()
            }
        }
        isHalfway.pass()
        #expect(try pool.read { try $0.countWines() } == 0)
        mayFinish.open()
        done.pass()
        #expect(try pool.read { try $0.countWines() } == 2)
    }

    @Test("Isolated reads: a read sees one state while other connections write")
    func isolatedReads() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try pool.read { db in
            let before = try db.countWines()
            start { try! pool.write { try $0.insertWine() } }.pass()
            #expect(try db.countWines() == before)
        }
        #expect(try pool.read { try $0.countWines() } == 1)
    }

    @Test("Isolated reads: a read sees one state while another process writes")
    func isolationFromProcesses() throws {
        let fixture = try PoolFixture()
        try fixture.pool.read { db in
            #expect(try db.countWines() == 0)
            try Shell.run(on: fixture.path, "INSERT INTO wine (name) VALUES ('from outside')")
            #expect(try db.countWines() == 0)
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 1)
    }

    @Test("Unsafe reads see changes between two statements; cursors don't")
    func unsafeReads() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try pool.write { db in for name in ["a", "b", "c"] { try db.insertWine(name) } }
        try pool.unsafeRead { db in
            let cursor = try String.fetchCursor(db, sql: "SELECT name FROM wine ORDER BY id")
            #expect(try cursor.next() == "a")
            start { try! pool.write { try $0.execute(sql: "DELETE FROM wine WHERE name = 'c'") } }.pass()
            #expect(try cursor.next() == "b")
            #expect(try cursor.next() == "c")
            #expect(try cursor.next() == nil)
            #expect(try db.countWines() == 2)
        }
    }

    @Test("Forbidden writes: writing in a read throws SQLITE_READONLY", arguments: WriterKind.allCases)
    func forbiddenWrites(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        func expectReadOnly(_ error: (any Error)?) {
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_READONLY)
        }
        expectReadOnly(await #expect(throws: DatabaseError.self) { try await writer.read { try $0.insertWine() } })
        let result = await withCheckedContinuation { continuation in
            writer.asyncRead { db in continuation.resume(returning: Result { try db.get().insertWine() }) }
        }
        expectReadOnly(#expect(throws: DatabaseError.self) { try result.get() })
        // Writes go on afterwards.
        try await writer.write { try $0.insertWine() }
        #expect(try await writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("Forbidden writes: also in a read that blocks", arguments: WriterKind.allCases)
    func forbiddenWritesInSyncReads(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let error = #expect(throws: DatabaseError.self) { try writer.read { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_READONLY)
        try writer.write { try $0.insertWine() }
        #expect(try writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("Forbidden writes: lifted by unsafe reads of a queue, kept by those of a pool")
    func unsafeWrites() throws {
        let queue = try QueueFixture().queue
        try queue.unsafeRead { try $0.insertWine() }
        #expect(try queue.read { try $0.countWines() } == 1)
        let fixture = try PoolFixture()
        let error = #expect(throws: DatabaseError.self) { try fixture.pool.unsafeRead { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_READONLY)
    }

    @Test("Non-reentrancy: an access inside an access stops the program with a remedy")
    func nonReentrancy() async throws {
        let write = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue()
            try await queue.write { _ in try queue.write { _ in } }
        }
        let read = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try PoolFixture()
            try await fixture.pool.read { _ in try fixture.pool.read { _ in } }
        }
        let barrier = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try PoolFixture()
            try await fixture.pool.read { _ in try fixture.pool.barrierWriteWithoutTransaction { _ in } }
        }
        let snapshot = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let snapshot = try PoolFixture().pool.makeSnapshot()
            try await snapshot.read { _ in snapshot.read { _ in } }
        }
        for result in [write, read, barrier, snapshot] {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("Database methods are not reentrant"))
            #expect(text.contains("Pass the `db` argument along"))
        }
    }

    @Test("Non-reentrancy is lifted by the reentrant accesses", arguments: WriterKind.allCases)
    func reentrantAccesses(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        try writer.write { db in
            try writer.unsafeReentrantWrite { same in
                #expect(same === db)
                try same.insertWine()
            }
            // The thread's own connection sees what is not committed yet.
            let count = try writer.unsafeReentrantRead { try $0.countWines() }
            #expect(count == 1)
        }
        try writer.read { db in
            let isSame = try writer.unsafeReentrantRead { same in same === db }
            #expect(isSame)
        }
        #expect(try writer.unsafeReentrantWrite { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("Accesses to other connections may be nested")
    func nestedConnections() throws {
        let fixture = try PoolFixture()
        let other = try QueueFixture()
        try fixture.pool.write { db in
            try db.insertWine()
            #expect(try fixture.pool.read { try $0.countWines() } == 0)
            try other.queue.write { try $0.insertWine() }
        }
        try fixture.pool.read { db in
            let count = try other.queue.read { try $0.countWines() }
            #expect(try db.countWines() == count)
        }
    }

    @Test(
        "Explicit transactions and savepoints restore the guarantees that unsafe writes lift",
        arguments: WriterKind.allCases)
    func restoredTransactions(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        try writer.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.insertWine()
                return .rollback
            }
            try db.inSavepoint {
                try db.insertWine()
                return .commit
            }
            try db.execute(sql: "PRAGMA query_only = 1")
            #expect(throws: DatabaseError.self) { try db.insertWine() }
            try db.execute(sql: "PRAGMA query_only = 0")
        }
        #expect(try writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("A transaction that an access leaves open stops the program, unless the configuration allows it")
    func openTransactions() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try await DatabaseQueue().writeWithoutTransaction { try $0.beginTransaction() }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("allowsUnsafeTransactions"))
        var configuration = Configuration.encrypted()
        configuration.allowsUnsafeTransactions = true
        let fixture = try QueueFixture(configuration)
        try await fixture.queue.writeWithoutTransaction { try $0.beginTransaction() }
        try await fixture.queue.writeWithoutTransaction { db in
            try db.insertWine()
            try db.commit()
        }
        #expect(try await fixture.queue.read { try $0.countWines() } == 1)
    }

    @Test("A busy writer of another process is waited for as long as the busy mode says")
    func busyTimeout() throws {
        var patient = Configuration.encrypted()
        patient.busyMode = .timeout(20)
        let fixture = try PoolFixture(patient)
        let impatient = try DatabasePool(path: fixture.path, configuration: .encrypted())
        let isLocked = Gate(), mayUnlock = Gate()
        let done = start {
            try! fixture.pool.write { db in
                try db.insertWine()
                isLocked.open()
                mayUnlock.pass()
            }
        }
        isLocked.pass()
        let error = #expect(throws: DatabaseError.self) { try impatient.write { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_BUSY)
        mayUnlock.open()
        done.pass()
        // The other way round: the patient pool gets its turn after the lock is gone.
        let isLockedAgain = Gate()
        let first = start {
            try! impatient.write { db in
                try db.insertWine()
                let wait = LockWait()
                isLockedAgain.open()
                wait.pass()
            }
        }
        isLockedAgain.pass()
        let second = start { try! fixture.pool.write { try $0.insertWine() } }
        first.pass()
        second.pass()
        #expect(try fixture.pool.read { try $0.countWines() } == 3)
    }
}

/// The stock `sqlcipher` shell: another process.
enum Shell {
    @discardableResult
    static func run(on path: String, passphrase: String = "correct horse", _ sql: String) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlcipher", path]
        let input = Pipe(), output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let script = "PRAGMA key = '\(passphrase)';\nPRAGMA kdf_iter = 1000;\n.timeout 5000\n\(sql);\n"
        input.fileHandleForWriting.write(Data(script.utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
        return text
    }
}
