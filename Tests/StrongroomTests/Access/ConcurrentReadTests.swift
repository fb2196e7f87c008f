import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("A concurrent read", .timeLimit(.minutes(2)))
struct ConcurrentReadTests {
    @Test("asyncConcurrentRead reads the state of the last transaction, while other writes go on")
    func asyncConcurrentRead() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let count = Shared(-1)
        let mayRead = Gate(), hasRead = Gate()
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.insertWine()
                return .commit
            }
            pool.asyncConcurrentRead { result in
                mayRead.pass()
                count.update { $0 = try! result.get().countWines() }
                hasRead.open()
            }
            try db.insertWine()
        }
        try pool.write { try $0.insertWine() }
        mayRead.open()
        hasRead.pass()
        #expect(count.value == 1)
        #expect(try pool.read { try $0.countWines() } == 3)
    }

    @Test("concurrentRead gives a future of the same state", arguments: WriterKind.allCases)
    func concurrentRead(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        struct Refusal: Error {}
        let (count, refusal): (DatabaseFuture<Int>, DatabaseFuture<Int>) = try writer.writeWithoutTransaction { db in
            try db.insertWine()
            let count = writer.concurrentRead { try $0.countWines() }
            let refusal: DatabaseFuture<Int> = writer.concurrentRead { _ in throw Refusal() }
            try db.insertWine()
            return (count, refusal)
        }
        #expect(try count.wait() == 1)
        #expect(try count.wait() == 1)
        #expect(throws: Refusal.self) { try refusal.wait() }
        _ = folder
    }

    @Test("A concurrent read can't write", arguments: WriterKind.allCases)
    func concurrentReadIsReadOnly(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let future = writer.writeWithoutTransaction { _ in writer.concurrentRead { try $0.insertWine() } }
        let error = #expect(throws: DatabaseError.self) { try future.wait() }
        #expect(error?.resultCode == .SQLITE_READONLY)
        _ = folder
    }

    @Test("A concurrent read that gives up its transaction is called once, and gives its value")
    func concurrentReadWithoutTransaction() throws {
        let pool = try PoolFixture().pool
        let calls = Shared(0)
        pool.writeWithoutTransaction { _ in
            pool.asyncConcurrentRead { db in
                calls.update { $0 += 1 }
                try? db.get().rollback()
            }
        }
        try pool.barrierWriteWithoutTransaction { _ in }
        #expect(calls.value == 1)
        let future = pool.writeWithoutTransaction { _ in
            pool.concurrentRead { db in
                try db.rollback()
                return 1
            }
        }
        #expect(try future.wait() == 1)
    }

    @Test("A concurrent read outside of a write, or inside a transaction, stops the program with a remedy")
    func misplacedConcurrentReads() async throws {
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try PoolFixture().pool.asyncConcurrentRead { _ in }
        }
        let inside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try PoolFixture()
            try await fixture.pool.write { _ in fixture.pool.asyncConcurrentRead { _ in } }
        }
        let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue()
            try await queue.write { _ in queue.spawnConcurrentRead { _ in } }
        }
        for result in [outside, inside, queue] {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("writeWithoutTransaction"))
        }
    }
}
