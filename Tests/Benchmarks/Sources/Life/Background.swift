import CMachine
import Foundation
import Workload

// The application goes to the background while it writes.

extension Notes {
    /// Suspends a write several times. Returns how many failed with an interruption error, and the mean time from the
    /// notification until the process holds no lock for writing.
    func background() throws -> (count: Int64, time: Double) {
        var (count, time) = (Int64(0), 0.0)
        for turn in 0..<Day.suspensionCount {
            let write = SuspendedWrite(pool, firstRow: Day.importCount * (turn + 1))
            write.waitUntilBegun()
            guard machine_holds_write_lock() != 0 else { fatalError("the write holds no lock") }
            let start = now()
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            while machine_holds_write_lock() != 0 {}
            time += now() - start
            if let error = write.error() as? DatabaseError, error.isInterruptionError { count += 1 }
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
        }
        // Nothing of the writes is left.
        let contacts = try pool.read { try Contact.fetchCount($0) }
        guard contacts == Day.importCount else { fatalError("a suspended write has committed") }
        return (count, time / Double(Day.suspensionCount))
    }
}

/// A write that goes on until it fails.
private final class SuspendedWrite: @unchecked Sendable {
    private let begun = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)
    // Written before `ended` is signalled, and read after.
    private var failure: (any Error)?

    init(_ pool: DatabasePool, firstRow: Int) {
        Thread.detachNewThread { [self] in
            do { try pool.write { try insert($0, from: firstRow) } } catch { failure = error }
            ended.signal()
        }
    }

    private func insert(_ db: Database, from first: Int) throws {
        for n in first... {
            try Contact(n).insert(db)
            if n == first + Day.rowsBeforeSuspension { begun.signal() }
        }
    }

    func waitUntilBegun() { begun.wait() }

    func error() -> (any Error)? {
        ended.wait()
        return failure
    }
}
