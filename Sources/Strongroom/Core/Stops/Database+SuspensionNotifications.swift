import Foundation

extension Database {
    /// Post it when the program is about to be stopped: databases that observe it let go of their locks.
    ///
    /// See ``Configuration/observesSuspensionNotifications`` and ``DatabaseWriter/suspend()``.
    public static let suspendNotification = Notification.Name("Strongroom.Database.suspend")

    /// Post it when the program goes on: databases take locks again.
    public static let resumeNotification = Notification.Name("Strongroom.Database.resume")
}
