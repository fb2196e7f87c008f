import Foundation
import Strongroom
import Testing

@Suite("Region observations of a database that others change", .timeLimit(.minutes(2)))
struct ExternalRegionTests {
    private enum Seen: Equatable { case change, unknown }

    @Test("tell changes of their own from those of others", arguments: WriterKind.allCases)
    func events(kind: WriterKind) async throws {
        let file = try SharedFile(), writer = try file.open(kind), shell = try file.shell()
        let seen = Shared<[Seen]>([])
        let observation = DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { error in
            Issue.record(error)
        } onEvent: { event in
            switch event {
            case .change: seen.update { $0.append(.change) }
            case .unknownChange: seen.update { $0.append(.unknown) }
            }
        }
        try await writer.write { try $0.insertWine() }
        #expect(seen.value == [.change])
        try shell.insertWine()
        #expect(try await eventually { seen.value.count == 2 })
        #expect(seen.value == [.change, .unknown])
        try await writer.write { try $0.insertWine() }
        #expect(seen.value == [.change, .unknown, .change])
        observation.cancel()
    }

    @Test("get the connection outside of transactions, and can use it")
    func connection() async throws {
        let file = try SharedFile(), pool = try file.open(.pool), shell = try file.shell()
        let counts = Shared<[Int]>([])
        let observation = try DatabaseRegionObservation(tracking: Table("wine")).start(in: pool) { db in
            #expect(!db.isInsideTransaction)
            let count = try? db.countWines()
            counts.update { $0.append(count ?? -1) }
        }
        try shell.insertWine()
        #expect(try await eventually { counts.value == [1] })
        observation.cancel()
        try shell.insertWine()
        try settle(pool)
        #expect(counts.value == [1])
    }

    @Test("are notified of changes by others from their start, even if they can't begin yet")
    func suspendedStart() async throws {
        let file = try SharedFile(.delete), queue = try file.open(.queue), shell = try file.shell(.delete)
        queue.suspend()
        let changes = Shared(0)
        let observation = DatabaseRegionObservation(tracking: Table("wine")).start(
            in: queue, onError: { Issue.record($0) }, onChange: { _ in changes.update { $0 += 1 } })
        try shell.insertWine()
        queue.resume()
        #expect(try await eventually { changes.value == 1 })
        observation.cancel()
    }
}
