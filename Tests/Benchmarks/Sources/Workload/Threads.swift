import Foundation

/// Runs `work` on `count` threads simultaneously, and adds up what they give.
public func onThreads(_ count: Int, _ work: @escaping @Sendable (Int) throws -> Int64) -> Int64 {
    let sum = Sum()
    let done = DispatchGroup()
    for index in 0..<count {
        done.enter()
        Thread.detachNewThread {
            do { sum.add(try work(index)) } catch { fatalError("\(error)") }
            done.leave()
        }
    }
    done.wait()
    return sum.value
}

/// A sum that several threads add to.
public final class Sum: @unchecked Sendable {
    // All of `total` is behind the lock.
    private let lock = NSLock()
    private var total: Int64 = 0

    public init() {}

    public var value: Int64 { lock.withLock { total } }

    public func add(_ other: Int64) { lock.withLock { total += other } }
}

/// Where a number of threads wait until all have come.
public final class Rendezvous: @unchecked Sendable {
    // All of `missing` is behind the condition.
    private let condition = NSCondition()
    private var missing: Int

    public init(_ count: Int) { missing = count }

    public func wait() {
        condition.lock()
        defer { condition.unlock() }
        missing -= 1
        if missing == 0 { condition.broadcast() }
        while missing > 0 { condition.wait() }
    }
}
