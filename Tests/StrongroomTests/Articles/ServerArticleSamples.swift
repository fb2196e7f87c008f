import Foundation
import Strongroom
import Testing

// The samples of the article on servers, as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the article on servers", .timeLimit(.minutes(1)))
struct ServerArticleSamples {
    @Test("Servers: health, figures, and a shutdown without a service group")
    func shutDown() async throws {
        let pool = try PoolFixture().pool
        var lines: [String] = []
        func log(_ line: String) { lines.append(line) }
        func status() -> (code: Int, text: String) {
            let health = pool.health
            return (health.canWrite ? 200 : 503, health.rawValue)
        }
        #expect(status() == (200, "ready"))
        try await pool.read { _ in }
        let statistics = pool.statistics
        log("\(statistics.reads.count) reads, \(statistics.logSize) bytes of log")
        #expect(lines.first?.hasPrefix("1 reads, ") == true)
        let shutdown = try await pool.shutDown(within: 5)
        if shutdown.hasInterruptedAccesses { log("accesses were interrupted") }
        #expect(lines.count == 1 && status() == (503, "closed"))
    }
}
