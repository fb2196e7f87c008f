import Foundation

extension Database {
    /// The notification that suspends databases. Post it when the program is about to be suspended: observing databases
    /// release their locks.
    ///
    /// See ``Configuration/observesSuspensionNotifications`` and ``DatabaseWriter/suspend()``.
    public static let suspendNotification: Notification.Name = {
        // From now on, a suspension is known: it can't be posted without its name.
        _ = Suspensions.shared
        return Suspensions.suspendName
    }()

    /// The notification that ends the suspension. Post it when the program is active again.
    public static let resumeNotification = Suspensions.resumeName
}

/// The functions that are called when databases are suspended and resumed.
///
/// Sendable because `tokens` are only written while it is initialized.
final class SuspensionNotifications: @unchecked Sendable {
    private var tokens: [any NSObjectProtocol] = []

    /// Registers functions, which are called on the thread that posts the notification.
    init(onSuspend: @escaping @Sendable () -> Void, onResume: @escaping @Sendable () -> Void) {
        follow(Suspensions.suspendName, onSuspend)
        follow(Suspensions.resumeName, onResume)
    }

    private func follow(_ name: Notification.Name, _ react: @escaping @Sendable () -> Void) {
        tokens.append(NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in react() })
    }
}
