import Strongroom
import TestSupport
import Testing

// The sample of "Troubleshooting", as it stands there: `ArticleTextTests` compares.

@Suite("The sample of the article on troubleshooting")
struct TroubleshootingSamples {
    @Test("The sample of the article on troubleshooting recognizes a wrong key")
    func wrongKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("notes.sqlite")
        let configuration = Configuration.encrypted(passphrase: "wrong")
        try DatabaseQueue(path: path, configuration: .encrypted()).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        var pool: DatabasePool?
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.reason == .wrongKey {
            pool = nil
        }
        #expect(pool == nil)
    }
}
