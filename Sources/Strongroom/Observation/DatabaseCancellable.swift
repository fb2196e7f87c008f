import Foundation

/// Something that goes on until it is cancelled.
public protocol DatabaseCancellable: Sendable {
    /// Stops it. Once is enough.
    func cancel()
}

/// Stops something when it is cancelled, or when it goes away.
public final class AnyDatabaseCancellable: DatabaseCancellable, @unchecked Sendable {
    // Sendable because the one variable is used under `lock` only.
    private let lock = NSLock()
    private var stop: (@Sendable () -> Void)?

    /// - parameter cancel: called once.
    public init(cancel: @escaping @Sendable () -> Void) {
        stop = cancel
    }

    /// Stands for `base`.
    public convenience init(_ base: some DatabaseCancellable) {
        self.init(cancel: base.cancel)
    }

    deinit {
        stop?()
    }

    public func cancel() {
        lock.lock()
        let stop = stop
        self.stop = nil
        lock.unlock()
        stop?()
    }
}
