import Dispatch

/// The result of a read that goes on while other things are done.
///
/// Sendable because the group orders the one write of `result` before all reads.
public final class DatabaseFuture<Value>: @unchecked Sendable {
    private let group = DispatchGroup()
    private var result: Result<Value, any Error>?

    init() {
        group.enter()
    }

    func fulfill(_ result: Result<Value, any Error>) {
        self.result = result
        group.leave()
    }

    /// Blocks until the read is done, and gives its value.
    ///
    /// - throws: what the read has thrown.
    public func wait() throws -> Value {
        group.wait()
        return try result!.get()
    }
}
