import Foundation

// Work with readers and a writer at the same time.

/// The state of a long write, and a request to end it.
public final class WriteProgress: @unchecked Sendable {
    // Both are behind the lock.
    private let lock = NSLock()
    private var isOver = false
    private var rowCount = 0
    private let begun = DispatchSemaphore(value: 0)

    /// Inserts row after row until the readers are through.
    public func insert(_ row: (Int64) throws -> Void) rethrows {
        var n: Int64 = 0
        var goesOn = true
        while goesOn {
            for _ in 0..<10 {
                try row(n)
                n += 1
            }
            if n == 10 { begun.signal() }
            goesOn = lock.withLock {
                rowCount += 10
                return !isOver
            }
        }
    }

    fileprivate var rows: Int { lock.withLock { rowCount } }
    fileprivate func waitForBeginning() { begun.wait() }
    fileprivate func end() { lock.withLock { isOver = true } }
}

extension Outcome {
    /// The time that two readers need beside a write that goes on all the while, and the time of one row of that write.
    public static func besideWrite(
        write: @escaping @Sendable (WriteProgress) throws -> Void, read: @escaping @Sendable (Int) throws -> Int64
    ) -> Outcome {
        let progress = WriteProgress()
        let written = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try write(progress) } catch { fatalError("\(error)") }
            written.signal()
        }
        progress.waitForBeginning()
        let start = now()
        let rowsBefore = progress.rows
        let check = onThreads(2, read)
        let time = now() - start
        let rows = progress.rows - rowsBefore
        progress.end()
        written.wait()
        return Outcome(check: check, values: [time, time / Double(max(rows, 1))])
    }

    /// The latencies of `count` writes while two readers read without a pause.
    public static func latencies(
        of count: Int, write: (Int64) throws -> Void, read: @escaping @Sendable (Int, Int64) throws -> Int64,
        check: () throws -> Int64
    ) rethrows -> Outcome {
        let isOver = Sum()
        let readersDone = DispatchSemaphore(value: 0)
        let started = Rendezvous(3)
        for index in 0..<2 {
            Thread.detachNewThread {
                do {
                    started.wait()
                    var n: Int64 = 0
                    while isOver.value == 0 {
                        _ = try read(index, n)
                        n += 1
                    }
                } catch { fatalError("\(error)") }
                readersDone.signal()
            }
        }
        started.wait()
        var times: [Double] = []
        times.reserveCapacity(count)
        for n in 0..<Int64(count) {
            let start = now()
            try write(n)
            times.append(now() - start)
        }
        isOver.add(1)
        readersDone.wait()
        readersDone.wait()
        let sorted = times.sorted()
        return Outcome(check: try check(), values: [sorted[count / 2], sorted[count * 99 / 100]])
    }
}
