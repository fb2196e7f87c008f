import Dispatch

extension DispatchQueue {
    /// Runs `work` on the queue, and returns its result.
    ///
    /// `sync(execute:)` does the same, and looks up two types at run time to hold a result of a type that it does not
    /// know: 700 instructions for each access.
    func wait<T>(for work: () throws -> T) rethrows -> T {
        try wait(for: work) { throw $0 }
    }

    /// - parameter rethrow: throws the error, which is one of `work`.
    private func wait<T>(for work: () throws -> T, rethrow: (any Error) throws -> Void) rethrows -> T {
        let result = UnsafeMutablePointer<T>.allocate(capacity: 1)
        defer { result.deallocate() }
        var failure: (any Error)?
        sync {
            do {
                result.initialize(to: try work())
            } catch {
                failure = error
            }
        }
        if let failure { try rethrow(failure) }
        return result.move()
    }
}
