import CSQLCipher
import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A rotation without memory")
struct RotationMemoryTests {
    @Test(
        "at any allocation, of a page or of a few bytes, once or for good, leaves one key that opens every row",
        arguments: [false, true])
    func outOfMemory(lasting: Bool) async throws {
        // The allocator must be there before SQLite is used for the first time.
        await #expect(processExitsWith: .success) { [lasting = lasting as Bool] in
            guard strongroom_faults_install_allocator() == 0 else { exit(9) }
            try rotateAtEachAllocation(lasting: lasting)
        }
    }

    @Test("under a heap limit of SQLite's leaves one key that opens every row, and the limit as it was")
    func heapLimit() async throws {
        await #expect(processExitsWith: .success) { () throws in
            let folder = try TemporaryFolder()
            var file = RotatedFile(path: folder.path("db.sqlite"))
            try file.create(wal: true, rows: 24)
            var failures = 0, successes = 0
            let step = Form.step(5, "limits of the heap in a rotation")
            for spare in stride(from: Int64(0), through: 400_000, by: 4000 * Int(step)) {
                let queue = try DatabaseQueue(path: file.path, configuration: file.configuration)
                let limit = sqlite3_memory_used() + spare
                sqlite3_hard_heap_limit64(limit)
                let outcome = Result { try queue.rotateKey(to: file.otherKey) }
                guard sqlite3_hard_heap_limit64(0) == limit else { exit(7) }
                if case .failure = outcome { failures += 1 } else { successes += 1 }
                try file.write(queue)
                try queue.close()
                try file.requireOneKey("\(spare) bytes: \(outcome)")
            }
            guard failures > 0, successes > 0 else { exit(8) }
        }
    }
}

private func rotateAtEachAllocation(lasting: Bool) throws {
    let folder = try TemporaryFolder()
    var file = RotatedFile(path: folder.path("db.sqlite"))
    try file.create(wal: true, rows: 24)
    var allocation: Int64 = 0, failures = 0, isRefused = true
    let step = Form.step(5, "allocations that are refused in a rotation")
    while isRefused {
        let queue = try DatabaseQueue(path: file.path, configuration: file.configuration)
        let refusals = strongroom_faults_refusals(), wasNew = file.isNew
        strongroom_faults_refuse_memory(allocation, 1, lasting)
        let outcome = Result { try queue.rotateKey(to: file.otherKey) }
        strongroom_faults_refuse_memory(-1, 0, false)
        isRefused = strongroom_faults_refusals() > refusals
        var isChanged = true
        if case .failure(let error) = outcome {
            failures += 1
            isChanged = (error as? DatabaseError)?.reason == .keyChanged
        }
        try file.write(queue)
        try queue.close()
        let context = "allocation \(allocation): \(outcome)"
        try file.requireOneKey(context)
        #expect(isChanged == (file.isNew != wasNew), "\(context)")
        allocation += step
    }
    guard failures > 5 else { exit(6) }
}
