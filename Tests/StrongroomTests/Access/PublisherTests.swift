#if OpenCombine
import Dispatch
import Foundation
import OpenCombine
import OpenCombineDispatch
import Strongroom
import Testing

@Suite("Publishers", .timeLimit(.minutes(2)))
struct PublisherTests {
    /// Marks the main dispatch queue, which need not run on the main thread here.
    private static let mainQueue: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    /// Subscribes, and waits for the completion.
    private func result<P: Publisher>(of publisher: P) async -> (values: [P.Output], error: (any Error)?, onMain: Bool)
    where P.Output: Sendable, P.Failure == any Error {
        let values = Shared<[P.Output]>([])
        let subscription = Shared<AnyCancellable?>(nil)
        let mainQueue = Self.mainQueue
        let (error, onMain): ((any Error)?, Bool) = await withCheckedContinuation { continuation in
            let cancellable = publisher.sink { completion in
                let onMain = DispatchQueue.getSpecific(key: mainQueue) == true
                switch completion {
                case .finished: continuation.resume(returning: (nil, onMain))
                case .failure(let error): continuation.resume(returning: (error, onMain))
                }
            } receiveValue: { value in
                values.update { $0.append(value) }
            }
            subscription.update { $0 = cancellable }
        }
        return (values.value, error, onMain)
    }

    @Test(
        "access the database when they are subscribed, once for each subscription, and complete on the main queue",
        arguments: WriterKind.allCases)
    func readAndWrite(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let write = writer.writePublisher { db in
            try db.insertWine()
            return try db.countWines()
        }
        let read = writer.readPublisher { try $0.countWines() }
        #expect(try await writer.read { try $0.countWines() } == 0)
        #expect(await result(of: write).values == [1])
        #expect(await result(of: write).values == [2])
        let last = await result(of: read)
        #expect(last.values == [2])
        #expect(last.error == nil)
        #expect(last.onMain)
        _ = folder
    }

    @Test("fail with the error of the access, and roll back", arguments: WriterKind.allCases)
    func failure(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let write = writer.writePublisher { db in
            try db.insertWine()
            try db.execute(sql: "nonsense")
        }
        #expect(await result(of: write).error is DatabaseError)
        let read = writer.readPublisher { try $0.insertWine() }
        #expect((await result(of: read).error as? DatabaseError)?.resultCode == .SQLITE_READONLY)
        #expect(try await writer.read { try $0.countWines() } == 0)
        _ = folder
    }

    @Test("migrate when they are subscribed, and fail with the error of a migration", arguments: WriterKind.allCases)
    func migration(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { try $0.execute(sql: "CREATE TABLE note (text)") }
        let publisher = migrator.migratePublisher(writer)
        #expect(try await writer.read { try !$0.tableExists("note") })
        let migrated = await result(of: publisher)
        #expect(migrated.values.count == 1)
        #expect(migrated.onMain)
        #expect(try await writer.read { try $0.tableExists("note") })
        migrator.registerMigration("nonsense") { try $0.execute(sql: "nonsense") }
        let failed = await result(of: migrator.migratePublisher(writer))
        #expect(failed.values.isEmpty)
        #expect(failed.error is DatabaseError)
        _ = folder
    }

    @Test("deliver on the requested scheduler, and read the state after a write", arguments: WriterKind.allCases)
    func writeThenRead(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let publisher = writer.writePublisher(receiveOn: DispatchQueue.global().ocombine) {
            try $0.insertWine()
        } thenRead: { db, _ in
            try db.countWines()
        }
        // Many times: a concurrent queue could hand over the completion before the value.
        for count in 1...50 {
            let outcome = await result(of: publisher)
            #expect(outcome.values == [count])
            #expect(!outcome.onMain)
        }
        _ = folder
    }
}
#endif
