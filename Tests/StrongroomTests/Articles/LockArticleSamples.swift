import Foundation
import Strongroom
import TestSupport
import Testing

// The samples of the article on locking, as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the article on locking", .timeLimit(.minutes(1)))
struct LockArticleSamples {
    @Test("Locking: lock, unlock, and lock automatically")
    func lock() async throws {
        let folder = try TemporaryFolder(), passphrase = "correct horse"
        let screenIsLocked = Notification.Name("screen is locked")
        var attempts = 0
        func askAgain() { attempts += 1 }
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase(passphrase), settings: CipherSettings(kdfIterations: 1000))
        let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)

        pool.autoLock(after: .idle(300))
        pool.autoLock(on: .suspension)
        pool.autoLock(on: screenIsLocked)

        try await pool.lock()
        for passphrase in ["battery staple", passphrase] {
            do {
                try await pool.unlock(with: .passphrase(passphrase))
            } catch let error as DatabaseError where error.reason == .wrongKey {
                askAgain()
            }
        }
        #expect(attempts == 1)
        #expect(!pool.isLocked)
        NotificationCenter.default.post(name: screenIsLocked, object: nil)
        #expect(try await eventually { pool.isLocked })
    }

    @Test("Locking: accesses that wait, and memory that is wiped")
    func configuration() throws {
        var configuration = Configuration()
        configuration.lockedAccesses = .wait(30)
        configuration.wipesFreedMemory = true
        #expect(configuration.lockedAccesses == .wait(30))
        #expect(configuration.wipesFreedMemory)
    }
}
