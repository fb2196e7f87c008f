// A stub of the application object.
@_exported import Foundation

public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

@MainActor
public class UIApplication {
    public nonisolated static let didEnterBackgroundNotification = Notification.Name("didEnterBackground")
    public nonisolated static let didReceiveMemoryWarningNotification = Notification.Name("didReceiveMemoryWarning")

    public func beginBackgroundTask(
        expirationHandler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { .invalid }

    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
}
