import Foundation

extension Database {
    /// The notification that suspends databases. Post it when the program is about to be suspended: observing databases
    /// release their locks.
    ///
    /// See ``Configuration/observesSuspensionNotifications`` and ``DatabaseWriter/suspend()``.
    public static let suspendNotification = Notification.Name("Strongroom.Database.suspend")

    /// The notification that ends the suspension. Post it when the program is active again.
    public static let resumeNotification = Notification.Name("Strongroom.Database.resume")
}
