import Foundation
import Strongroom
import TestSupport
import Testing

// The samples on changes by others of the articles on sharing and observation, as they stand there:
// `ArticleTextTests` compares.

@Suite("Samples of the articles on changes by others", .timeLimit(.minutes(2)))
struct ExternalChangeSamples {
    struct Player: Codable, FetchableRecord, PersistableRecord {
        var name: String
    }

    private let folder: TemporaryFolder
    private let shell: RunningShell
    private var path: String { folder.path("db.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
        shell = try startShell(folder.path("db.sqlite"))
        try shell.run("PRAGMA journal_mode = wal; CREATE TABLE player (name TEXT);")
    }

    private func insertPlayer() throws {
        try shell.run("INSERT INTO player VALUES ('Arthur');")
    }

    @Test("Sharing: values and regions")
    func sharing() async throws {
        var configuration = Configuration.encrypted(), counts: [Int] = []
        for _ in 1...2 { try insertPlayer() }
        configuration.observesExternalChanges = true
        let observer = try DatabasePool(path: path, configuration: configuration)
        let observation = ValueObservation.tracking { db in try Player.fetchCount(db) }
        for try await count in observation.values(in: observer) {
            counts.append(count)
            if count == 2 { break }
        }
        #expect(counts == [2])
        try await regions(observer)
    }

    private func regions(_ observer: DatabasePool) async throws {
        nonisolated(unsafe) var failure: (any Error)?
        let own = Shared(0), foreign = Shared(0)
        @Sendable func playersHaveChanged(_ db: Database) { own.update { $0 += 1 } }
        @Sendable func somethingHasChanged(_ db: Database) { foreign.update { $0 += 1 } }
        let cancellable = DatabaseRegionObservation(tracking: Player.all()).start(in: observer) { error in
            failure = error
        } onEvent: { event in
            switch event {
            case .change(let db): playersHaveChanged(db)
            case .unknownChange(let db): somethingHasChanged(db)
            }
        }
        try await observer.write { try Player(name: "Barbara").insert($0) }
        try insertPlayer()
        #expect(try await eventually { foreign.value == 1 })
        #expect(own.value == 1 && failure == nil)
        cancellable.cancel()
    }

    @Test("Observation: other processes")
    func observation() async throws {
        var configuration = Configuration.encrypted()
        nonisolated(unsafe) var failure: (any Error)?
        let latest = Shared<Int?>(nil)
        configuration.observesExternalChanges = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let cancellable =
            ValueObservation
            .tracking { db in try Player.fetchCount(db) }
            .removeDuplicates()
            .start(in: queue, scheduling: .async(onQueue: .global())) { error in
                failure = error
            } onChange: { count in
                latest.update { $0 = count }
            }
        #expect(try await eventually { latest.value == 0 })
        try insertPlayer()
        #expect(try await eventually { latest.value == 1 })
        #expect(failure == nil)
        cancellable.cancel()
    }
}
