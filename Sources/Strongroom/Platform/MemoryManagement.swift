#if canImport(UIKit) && !os(watchOS)
import UIKit

extension DatabasePool {
    /// Releases memory when the application enters the background, and when memory is low.
    ///
    /// - parameter application: the application, which gives the pool background time to release memory.
    @MainActor
    public func setupMemoryManagement(in application: UIApplication) {
        let center = NotificationCenter.default
        _ = center.addObserver(
            forName: UIApplication.didReceiveMemoryWarningNotification, object: application, queue: nil
        ) { [weak self] _ in
            self?.releaseMemoryEventually()
        }
        _ = center.addObserver(
            forName: UIApplication.didEnterBackgroundNotification, object: application, queue: .main
        ) { [weak self, weak application] _ in
            guard let self, let application else { return }
            MainActor.assumeIsolated { self.releaseMemory(inBackgroundTaskOf: application) }
        }
    }

    @MainActor
    private func releaseMemory(inBackgroundTaskOf application: UIApplication) {
        let task = BackgroundTask(of: application)
        DispatchQueue.global().async {
            self.releaseMemory()
            Task { @MainActor in task.end() }
        }
    }
}

/// The background time that the system grants to an application.
@MainActor
private final class BackgroundTask {
    private let application: UIApplication
    private var identifier = UIBackgroundTaskIdentifier.invalid

    init(of application: UIApplication) {
        self.application = application
        // Accesses may hold the pool for longer, and the system ends an application that exceeds its time.
        identifier = application.beginBackgroundTask { self.end() }
    }

    /// Ends the background task once.
    func end() {
        guard identifier != .invalid else { return }
        application.endBackgroundTask(identifier)
        identifier = .invalid
    }
}
#endif
