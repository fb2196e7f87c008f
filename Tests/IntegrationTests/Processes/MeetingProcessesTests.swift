import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Processes that create one database, each in its own way", .timeLimit(.minutes(2)))
struct MeetingProcessesTests {
    private static let ways = ["slots", "slots-header", "passphrase", "header", "managed"]

    private func author(_ path: String, _ key: DatabaseKey) throws -> String? {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key, settings: CipherSettings(kdfIterations: 1000))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try String.fetchOne($0, sql: "SELECT author FROM mark") }
    }

    @Test("simultaneously leave the database of one of them, which it opens, and no slot file of another")
    func race() async throws {
        for _ in 0..<6 {
            let scratch = try TemporaryFolder(), path = scratch.path("db.sqlite"), store = scratch.path("key")
            let processes = try Self.ways.shuffled().map { way in
                (way, try Program(built: "SharingWorkload", "create", path, way, store).start())
            }
            for (_, process) in processes { process.write("go\n") }
            var winners: [String] = []
            for (way, process) in processes {
                process.endInput()
                let outcome = await process.outcome()
                #expect([0, 3].contains(outcome.status), "\(way): \(outcome.errors)")
                if outcome.status == 0 { winners.append(way) }
            }
            #expect(winners.count == 1)
            let winner = try #require(winners.first)
            let key: DatabaseKey =
                winner == "managed" ? .managed(by: FileKeyStore(path: store)) : .passphrase("secret of \(winner)")
            #expect(try author(path, key) == winner)
            let hasKeys = FileManager.default.fileExists(atPath: path + "-keys")
            #expect(hasKeys == winner.hasPrefix("slots"), "\(winner)")
        }
    }
}
