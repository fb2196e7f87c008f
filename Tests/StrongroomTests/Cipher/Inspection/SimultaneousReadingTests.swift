import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A reading command leaves no files. How it reads depends on the log, which is gone after the last other connection.
@Suite("Reading commands beside others")
struct SimultaneousReadingTests {
    private let folder: TemporaryFolder
    private let path: String
    private let encryption = Encryption(key: .passphrase("first"), settings: CipherSettings(kdfIterations: 1000))

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db")
        let pool = try pool()
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try pool.close()
    }

    private func pool() throws -> DatabasePool {
        var configuration = Configuration()
        configuration.encryption = encryption
        return try DatabasePool(path: path, configuration: configuration)
    }

    /// The log comes and goes: it is there when a way of reading is chosen, and gone when that is tried.
    @Test("read, while another connection comes and goes", .timeLimit(.minutes(2)))
    func comesAndGoes() throws {
        let failures = Mutex<[String]>([]), ended = Mutex(0), closings = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            defer { ended.withLock { $0 += 1 } }
            if number == 0 {
                while ended.withLock({ $0 < 3 }) {
                    if (try? pool().close()) != nil { closings.withLock { $0 += 1 } }
                }
                return
            }
            for _ in 0..<100 {
                do {
                    try DatabaseFile.reading(path: path, encryption: encryption) { db in
                        guard try Int.fetchOne(db, sql: "SELECT a FROM t") == 1 else { throw DatabaseError() }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(closings.withLock { $0 } > 10)
    }
}
