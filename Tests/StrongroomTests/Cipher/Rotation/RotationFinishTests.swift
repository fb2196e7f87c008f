import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// After its commit a rotation moves the log into the file, and the salt to its place.
@Suite("A rotation that can't be finished")
struct RotationFinishTests {
    private static func configuration(_ digit: UInt8, _ header: PlaintextHeader? = nil) throws -> Configuration {
        var configuration = Configuration()
        // Passphrases have salts that a rotation changes; these are cheap.
        configuration.encryption = Encryption(
            key: .passphrase([digit]), settings: CipherSettings(kdfIterations: 10), plaintextHeader: header)
        return configuration
    }

    private static func create(in folder: TemporaryFolder, header: PlaintextHeader? = nil) throws -> DatabaseQueue {
        let path = folder.path("\(UUID().uuidString).sqlite")
        let queue = try DatabaseQueue(path: path, configuration: configuration(1, header))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        return queue
    }

    private static func rotate(_ queue: DatabaseQueue) -> Result<RotationOutcome, any Error> {
        Result { try queue.rotateKey(to: .passphrase([2])) }
    }

    private static func read(_ path: String, _ digit: UInt8) throws -> Int? {
        let queue = try DatabaseQueue(path: path, configuration: configuration(digit))
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
    }

    @Test("because its log can't be moved into the file is reported as unfinished, and goes on when there is room")
    func logNotMoved() throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder()
        var outcomes: Set<RotationOutcome> = []
        for writes in Int64(0)... {
            let queue = try Self.create(in: folder), path = queue.path, hits = strongroom_faults_hits()
            strongroom_faults_set(path, STRONGROOM_FAULT_FULL, writes)
            let outcome = Self.rotate(queue)
            if case .success(.unfinished) = outcome {
                let error = #expect(throws: DatabaseError.self) { try queue.finishKeyRotation() }
                #expect(error?.resultCode == .SQLITE_FULL)
            }
            strongroom_faults_clear(path)
            if case .success(let outcome) = outcome {
                outcomes.insert(outcome)
                #expect(try queue.finishKeyRotation() == .complete)
                try queue.close()
                #expect(try Self.read(path, 2) == 7)
                #expect(throws: DatabaseError.self) { try Self.read(path, 1) }
            }
            if strongroom_faults_hits() == hits { break }
        }
        #expect(outcomes == [.unfinished, .complete])
    }

    @Test(
        "because its salt can't be written is reported as unfinished, opens, and goes on when there is room",
        .enabled(if: strongroom_faults_syncs() >= 0))
    func saltNotWritten() throws {
        let folder = try TemporaryFolder()
        defer { strongroom_faults_fail_syncs(-1) }
        var outcomes: [RotationOutcome] = [], pendingCount = 0
        for syncs in Int64(0)..<30 where outcomes.last != .complete {
            strongroom_faults_fail_syncs(-1)
            let queue = try Self.create(in: folder, header: PlaintextHeader()), path = queue.path
            strongroom_faults_fail_syncs(syncs)
            guard case .success(let outcome) = Self.rotate(queue) else { continue }
            outcomes.append(outcome)
            // Otherwise it was the removal of the last file that could not be synced.
            if outcome == .unfinished, try DatabaseFile.inspect(path: path).isRotationPending {
                pendingCount += 1
                let error = #expect(throws: DatabaseError.self) { try queue.finishKeyRotation() }
                #expect(error?.resultCode == .SQLITE_IOERR)
                // An unfinished rotation does not prevent an opening.
                strongroom_faults_fail_syncs(0)
                #expect(try Self.read(path, 2) == 7)
            }
            strongroom_faults_fail_syncs(-1)
            #expect(try queue.finishKeyRotation() == .complete)
            #expect(try !DatabaseFile.inspect(path: path).isRotationPending)
            #expect(try Self.read(path, 2) == 7)
        }
        #expect(pendingCount > 0 && outcomes.last == .complete)
        #expect(!outcomes.contains(.formerKeyRemains))
    }
}
