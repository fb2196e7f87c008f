import Dispatch

/// The result of a read that runs while other work goes on.
public final class DatabaseFuture<Value>: @unchecked Sendable {
    // Sendable because the group orders the single write of `result` before all reads.
    private let group = DispatchGroup()
    private var result: Result<Value, any Error>?

    init() {
        group.enter()
    }

    func fulfill(_ result: Result<Value, any Error>) {
        self.result = result
        group.leave()
    }

    /// Blocks until the read has ended, and returns its value.
    ///
    /// - throws: the error that the read threw.
    public func wait() throws -> Value {
        group.wait()
        return try result!.get()
    }
}
