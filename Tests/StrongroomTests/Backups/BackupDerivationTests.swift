import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The verification of a backup", .enabled(if: strongroom_faults_pbkdf2_rounds() >= 0))
struct BackupDerivationTests {
    private let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    private func configuration(_ passphrase: String) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase(passphrase), settings: CipherSettings(kdfIterations: 1000))
        return configuration
    }

    private func queues() throws -> (source: DatabaseQueue, copy: DatabaseQueue) {
        let source = try DatabaseQueue(path: scratch.path("notes.db"), configuration: configuration("one"))
        try source.write { try $0.execute(sql: "CREATE TABLE note(text); INSERT INTO note VALUES ('kept')") }
        return (source, try DatabaseQueue(path: scratch.path("copy.db"), configuration: configuration("two")))
    }

    /// Returns the number of derivations of `body`. Keys of HMACs have two rounds each.
    private func derivations(_ body: () throws -> Void) rethrows -> Int64 {
        let before = strongroom_faults_pbkdf2_rounds()
        try body()
        return (strongroom_faults_pbkdf2_rounds() - before) / 1000
    }

    @Test("derives no key: that of the destination fits the salt in the file")
    func none() throws {
        let (source, copy) = try queues()
        #expect(try derivations { try source.backup(to: copy) } == 0)
        let reopened = try derivations {
            let queue = try DatabaseQueue(path: scratch.path("copy.db"), configuration: configuration("two"))
            #expect(try queue.read { try String.fetchOne($0, sql: "SELECT text FROM note") } == "kept")
        }
        #expect(reopened == 1)
    }

    @Test("derives the key of a copy in another file once")
    func copies() throws {
        let (source, _) = try queues()
        let count = try derivations {
            try source.vacuum(
                into: scratch.path("other.db"), encryption: configuration("three").encryption)
        }
        #expect(count == 1)
    }

    @Test("reads the files alone: a salt that is not the connection's is noticed")
    func files() throws {
        let (_, copy) = try queues()
        try copy.write { try $0.execute(sql: "CREATE TABLE note(text)") }
        try copy.inDatabase { db in
            try db.requireOpensFromFiles()
            // Another process writes other bytes in the place of the salt.
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path("copy.db")))
            let first = try #require(try file.read(upToCount: 1)?.first)
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data([first ^ 1]))
            var error: DatabaseError?
            let count = derivations {
                error = #expect(throws: DatabaseError.self) { try db.requireOpensFromFiles() }
            }
            // That key does not fit, and other formats are tried.
            #expect(count >= 1)
            #expect(error?.resultCode == .SQLITE_CORRUPT || error?.resultCode == .SQLITE_NOTADB)
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data([first]))
            try db.requireOpensFromFiles()
        }
    }
}
