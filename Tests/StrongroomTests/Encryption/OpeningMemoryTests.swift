import CStrongroomFaults
import Foundation
import Strongroom
import Testing

@Suite("Opening without memory")
struct OpeningMemoryTests {
    @Test("throws at whatever allocation is refused, and leaves the file as it was", arguments: [false, true])
    func refused(lasting: Bool) async throws {
        // The allocator must be there before SQLite is used for the first time.
        await #expect(processExitsWith: .success) { [lasting = lasting as Bool] in
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            try DatabaseQueue(path: path, configuration: .encrypted()).write {
                try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)")
            }
            var allocation: Int64 = 0, failures = 0, isRefused = true
            while isRefused {
                let refusals = strongroom_faults_refusals()
                strongroom_faults_refuse_memory(allocation, 1, lasting)
                let opened = Result { try DatabaseQueue(path: path, configuration: .encrypted()) }
                strongroom_faults_refuse_memory(-1, 0, false)
                isRefused = strongroom_faults_refusals() > refusals
                if case .failure(let error) = opened {
                    failures += 1
                    guard error is DatabaseError else { exit(8) }
                }
                allocation += 1
            }
            let queue = try DatabaseQueue(path: path, configuration: .encrypted())
            guard failures > 50, try queue.read({ try Int.fetchOne($0, sql: "SELECT a FROM t") }) == 7 else { exit(7) }
        }
    }

    @Test("frees no memory twice if the database is new, and closes its file", arguments: [false, true])
    func new(lasting: Bool) async throws {
        await #expect(processExitsWith: .success) { [lasting = lasting as Bool] in
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            let folder = try TemporaryFolder()
            // SQLCipher stops the process if it has no memory for the first key of all.
            _ = try DatabaseQueue(configuration: .encrypted())
            let openFiles = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
            let before = try openFiles()
            var allocation: Int64 = 0, failures = 0, isRefused = true
            while isRefused {
                let refusals = strongroom_faults_refusals()
                strongroom_faults_refuse_memory(allocation, 1, lasting)
                let opened = Result {
                    try DatabaseQueue(path: folder.path("\(allocation).sqlite"), configuration: .encrypted()).close()
                }
                strongroom_faults_refuse_memory(-1, 0, false)
                isRefused = strongroom_faults_refusals() > refusals
                if case .failure(let error) = opened {
                    failures += 1
                    guard error is DatabaseError else { exit(8) }
                }
                allocation += 1
            }
            guard failures > 50, try openFiles() == before else { exit(7) }
        }
    }
}
