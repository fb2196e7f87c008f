import Foundation
import InMemoryTracing
import Notes
import Strongroom
import Testing

// The samples of the article on servers that need the traits, as they stand there.

@Suite("Samples of the article on servers, with the traits")
struct TraitArticleSamples {
    private let folder: NotesFolder

    init() throws { folder = try NotesFolder() }

    @Test("Servers: a service, metrics and spans")
    func service() async throws {
        let path = folder.database
        var configuration = NotesDatabase.configuration(path: path)
        configuration.tracing = DatabaseTracing()
        let service = DatabaseService { [configuration] in try NotesDatabase.open(path: path, configuration) }
        let running = Task { try await service.run() }
        let pool = try await service.database
        let metrics = DatabaseMetrics(pool, dimensions: [("database", "notes")])
        metrics.report()
        func find(_ key: String) async throws -> Note? {
            try await service.database.read { db in try Note.fetchOne(db, key: key) }
        }
        #expect(try await find("a") == nil)
        running.cancel()
        try await running.value
    }
}
