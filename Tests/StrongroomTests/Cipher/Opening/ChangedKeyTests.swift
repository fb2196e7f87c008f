import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A key that another connection changes", .timeLimit(.minutes(2)))
struct ChangedKeyTests {
    @Test("is the reason of each failure of an open database", arguments: [WriterKind.queue, .pool], [true, false])
    func open(kind: WriterKind, hasPlaintextHeader: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000),
            plaintextHeader: hasPlaintextHeader ? PlaintextHeader() : nil)
        let writer: any DatabaseWriter =
            kind == .queue
            ? try DatabaseQueue(path: path, configuration: configuration)
            : try DatabasePool(path: path, configuration: configuration)
        try writer.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        #expect(try writer.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        let other = try DatabaseQueue(path: path, configuration: configuration)
        try other.rotateKey(to: .passphrase("another"))
        for _ in 0..<2 {
            let reading = #expect(throws: DatabaseError.self) {
                try writer.read { _ = try Int.fetchOne($0, sql: "SELECT a FROM t") }
            }
            #expect(reading?.reason == .wrongKey && reading?.resultCode == .SQLITE_NOTADB)
            let writing = #expect(throws: DatabaseError.self) {
                try writer.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            }
            #expect(writing?.reason == .wrongKey && writing?.resultCode == .SQLITE_NOTADB)
            let rotating = #expect(throws: DatabaseError.self) { try writer.rotateKey(to: .passphrase("third")) }
            #expect(rotating?.reason == .wrongKey && rotating?.resultCode == .SQLITE_NOTADB, "\(rotating as Any)")
        }
        #expect(try other.read { try Int.fetchAll($0, sql: "SELECT a FROM t") } == [1])
    }

    @Test("during openings is their reason", arguments: [WriterKind.queue, .pool])
    func openings(kind: WriterKind) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let keys = try (1...2).map { try DatabaseKey.rawKey([UInt8](repeating: $0, count: 32)) }
        func configuration(_ number: Int) -> Configuration {
            var configuration = Configuration()
            configuration.encryption = Encryption(key: keys[number % 2])
            configuration.busyMode = .timeout(5)
            return configuration
        }
        let rotating = try DatabasePool(path: path, configuration: configuration(0))
        try rotating.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        let isOver = Shared(false), hasEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            var number = 0
            while !isOver.value {
                number += 1
                _ = try? rotating.rotateKey(to: keys[number % 2])
            }
            hasEnded.signal()
        }
        var opened = 0, refused = 0, number = 0
        while number < 5000, number < 100 || opened == 0 || refused == 0 {
            number += 1
            do {
                let count: Int?
                if kind == .queue {
                    let queue = try DatabaseQueue(path: path, configuration: configuration(number))
                    count = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                } else {
                    let pool = try DatabasePool(path: path, configuration: configuration(number))
                    count = try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
                }
                #expect(count == 1)
                opened += 1
            } catch let error as DatabaseError where error.resultCode != .SQLITE_BUSY {
                #expect(error.reason == .wrongKey, "\(error)")
                refused += 1
            } catch is DatabaseError {}
        }
        isOver.update { $0 = true }
        hasEnded.wait()
        #expect(opened > 0 && refused > 0)
    }
}
