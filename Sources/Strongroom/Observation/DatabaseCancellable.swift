/// An activity that goes on until it is cancelled.
public protocol DatabaseCancellable: Sendable {
    /// Ends the activity. Further calls do nothing.
    func cancel()
}

/// An activity that ends when it is cancelled, or when the object is released.
public final class AnyDatabaseCancellable: DatabaseCancellable {
    private struct State {
        var end: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    /// Creates an activity that `cancel` ends.
    ///
    /// - parameter cancel: called once.
    public init(cancel: @escaping @Sendable () -> Void) {
        state = Mutex(State(end: cancel))
    }

    /// Creates an object that cancels `base`.
    public convenience init(_ base: some DatabaseCancellable) {
        self.init(cancel: base.cancel)
    }

    deinit {
        cancel()
    }

    /// Ends the activity. Further calls do nothing.
    public func cancel() {
        state.withLock { $0.end.take() }?()
    }
}
