import Dispatch
import Foundation
import Testing

@testable import Strongroom

@Suite("Target queues", .timeLimit(.minutes(2)))
struct TargetQueueTests {
    static func configuration(_ target: DispatchQueue) -> Configuration {
        var configuration = Configuration.encrypted()
        configuration.targetQueue = target
        configuration.maximumReaderCount = 2
        return configuration
    }

    private static func queues() -> [DispatchQueue] {
        [DispatchQueue(label: "serial"), DispatchQueue(label: "concurrent", attributes: .concurrent), .global()]
    }

    @Test("may be serial: accesses in each other, beside each other, and barriers", arguments: [0, 1, 2])
    func nested(_ index: Int) throws {
        let fixture = try PoolFixture(Self.configuration(Self.queues()[index]))
        let pool = fixture.pool
        let threads = (0..<4).map { _ in
            start {
                for _ in 0..<10 {
                    try! pool.writeWithoutTransaction { db in
                        try db.insertWine()
                        let count = try pool.read { try $0.countWines() }
                        #expect(count >= 1)
                        for _ in 0..<3 { pool.asyncConcurrentRead { _ in } }
                    }
                    _ = try! pool.read { db in try pool.write { try $0.insertWine() } }
                    try! pool.barrierWriteWithoutTransaction { _ in _ = try pool.read { try $0.countWines() } }
                    pool.asyncRead { _ in }
                }
            }
        }
        for thread in threads { thread.pass() }
        #expect(try pool.read { try $0.countWines() } == 80)
        try pool.close()
    }

    @Test("awaited accesses run on them, serial or not", arguments: [0, 1, 2])
    func awaited(_ index: Int) async throws {
        let pool = try PoolFixture(Self.configuration(Self.queues()[index])).pool
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { try await pool.write { try $0.insertWine() } }
                group.addTask { _ = try await pool.read { try $0.countWines() } }
                group.addTask { try await pool.barrierWriteWithoutTransaction { _ in } }
            }
            try await group.waitForAll()
        }
        #expect(try await pool.read { try $0.countWines() } == 20)
    }

    @Test("a thread that has a serial one accesses the database all the same", arguments: WriterKind.allCases)
    func fromTheQueueItself(kind: WriterKind) throws {
        let target = DispatchQueue(label: "serial")
        let (writer, folder) = try kind.make(Self.configuration(target))
        let isDone = start {
            target.sync {
                try! writer.write { try $0.insertWine() }
                let count = try! writer.read { try $0.countWines() }
                #expect(count == 1)
                try! writer.barrierWriteWithoutTransaction { _ in }
            }
        }
        isDone.pass()
        _ = folder
    }

    @Test("a thread on a serial queue that would wait for accesses to the same queue stops the program")
    func waitOnSerialQueue() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let target = DispatchQueue(label: "cellar.serial")
            let pool = try PoolFixture(TargetQueueTests.configuration(target)).pool
            target.sync {
                // Two accesses that have the readers, and wait for the queue.
                for _ in 0..<2 { pool.asyncRead { _ in } }
                _ = try! pool.read { try $0.countWines() }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("cellar.serial, the serial target queue of the database"))
    }

    @Test("a read-only queue runs on the one for reads")
    func readOnlyQueue() throws {
        let fixture = try QueueFixture()
        let key = DispatchSpecificKey<String>()
        let (reads, writes) = (DispatchQueue(label: "reads"), DispatchQueue(label: "writes"))
        reads.setSpecific(key: key, value: "reads")
        writes.setSpecific(key: key, value: "writes")
        var configuration = Configuration.encrypted()
        configuration.targetQueue = reads
        configuration.writeTargetQueue = writes
        for (isReadOnly, expected) in [(true, "reads"), (false, "writes")] {
            configuration.readonly = isReadOnly
            let queue = try DatabaseQueue(path: fixture.queue.path, configuration: configuration)
            #expect(queue.inDatabase { _ in DispatchQueue.getSpecific(key: key) } == expected)
            #expect(try queue.read { _ in DispatchQueue.getSpecific(key: key) } == expected)
        }
    }
}
