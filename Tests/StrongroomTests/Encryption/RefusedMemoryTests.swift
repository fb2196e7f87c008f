import CStrongroomFaults
import Foundation
@testable import Strongroom
import Testing

@Suite("Memory that is refused")
struct RefusedMemoryTests {
    private static func encryption() throws -> Encryption { Encryption(key: try .rawKey([UInt8](1...32))) }

    private static func configuration() throws -> Configuration {
        var configuration = Configuration()
        configuration.encryption = try encryption()
        return configuration
    }

    /// Refuses an allocation of `work`, each time a later one. Ends the process with a failure if an error is unclear.
    private static func refuse(
        inStepsOf step: Int64, _ work: (DatabaseQueue, TemporaryFolder) throws -> Void) throws
    {
        guard strongroom_faults_install_allocator() == 0 else { exit(9) }
        var allocation: Int64 = 0, isRefused = true, failures = 0
        while isRefused {
            let folder = try TemporaryFolder()
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration())
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
            let refusals = strongroom_faults_refusals()
            strongroom_faults_refuse_memory(allocation, 1, false)
            let outcome = Result { try work(queue, folder) }
            strongroom_faults_refuse_memory(-1, 0, false)
            isRefused = strongroom_faults_refusals() > refusals
            if case .failure(let error) = outcome {
                failures += 1
                guard let error = error as? DatabaseError, !error.isWrongKeyError else { exit(8) }
            }
            allocation += step
        }
        guard failures > 20 else { exit(7) }
    }

    @Test("to a backup leaves no transaction open in the source")
    func backup() async {
        await #expect(processExitsWith: .success) {
            try Self.refuse(inStepsOf: 3) { queue, folder in
                let copy = try DatabaseQueue(path: folder.path("copy.sqlite"), configuration: Self.configuration())
                try queue.backup(to: copy)
            }
        }
    }

    @Test("to a change of the header is not called a wrong key")
    func header() async {
        await #expect(processExitsWith: .success) {
            try Self.refuse(inStepsOf: 3) { queue, folder in
                try queue.close()
                try DatabaseFile.setPlaintextHeader(
                    PlaintextHeader(), path: folder.path("db.sqlite"), encryption: Self.encryption())
            }
        }
    }

    @Test("to the key of an attached new database frees nothing twice if the database is detached")
    func attached() async {
        await #expect(processExitsWith: .success) {
            try Self.refuse(inStepsOf: 1) { queue, folder in
                try queue.writeWithoutTransaction { db in
                    defer { try? db.execute(sql: "DETACH DATABASE other") }
                    try db.attach(path: folder.path("other.sqlite"), as: "other", encryption: Self.encryption())
                }
            }
        }
    }
}
