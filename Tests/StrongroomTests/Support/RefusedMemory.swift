import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport

/// Refuses an allocation of SQLite's, each time a later one, until there is none. In a process that has not used SQLite
/// yet, which it ends with a failure if an error is unclear, or if too few calls failed.
///
/// - parameters:
///   - step: the distance between two refused allocations; five times as much in the default form.
///   - lasting: true to refuse all that follow, too.
///   - prepare: called before anything is refused.
func refuseEachAllocation<Prepared>(
    inStepsOf step: Int64 = 1, lasting: Bool = false, prepare: (Int64) throws -> Prepared,
    work: (Prepared) throws -> Void
) throws {
    let factor = Form.step(5, "allocations that are refused")
    var allocation: Int64 = 0, failures = 0, isRefused = true
    while isRefused {
        let prepared = try prepare(allocation)
        let refusals = strongroom_faults_refusals()
        strongroom_faults_refuse_memory(allocation, 1, lasting)
        let outcome = Result { try work(prepared) }
        strongroom_faults_refuse_memory(-1, 0, false)
        isRefused = strongroom_faults_refusals() > refusals
        if case .failure(let error) = outcome {
            failures += 1
            guard let error = error as? DatabaseError, !error.isWrongKeyError else { exit(8) }
        }
        allocation += step * factor
    }
    guard failures > 20 / factor else { exit(7) }
}

/// Puts the allocator in place that refuses memory.
func installRefusingAllocator() {
    if strongroom_faults_install_allocator() != 0 { exit(9) }
}
