import CStrongroomFaults
import Foundation
@testable import Strongroom
import Testing

@Suite("A rotation without memory")
struct RotationMemoryTests {
    @Test("at any allocation, once or for good, leaves one key that opens every row", arguments: [false, true])
    func outOfMemory(lasting: Bool) async throws {
        // The allocator must be there before SQLite is used for the first time.
        await #expect(processExitsWith: .success) { [lasting = lasting as Bool] in
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            let folder = try TemporaryFolder()
            var file = RotatedFile(path: folder.path("db.sqlite"))
            try file.create(wal: true, rows: 24)
            var allocation: Int64 = 0, failures = 0, isRefused = true
            while isRefused {
                let queue = try DatabaseQueue(path: file.path, configuration: file.configuration)
                let refusals = strongroom_faults_refusals()
                strongroom_faults_refuse_memory(allocation, lasting)
                let outcome = Result { try queue.rotateKey(to: file.otherKey) }
                strongroom_faults_refuse_memory(-1, false)
                isRefused = strongroom_faults_refusals() > refusals
                if case .failure = outcome { failures += 1 }
                try file.write(queue)
                try queue.close()
                try file.requireOneKey("allocation \(allocation): \(outcome)")
                allocation += 3
            }
            guard failures > 20 else { exit(8) }
        }
    }
}
