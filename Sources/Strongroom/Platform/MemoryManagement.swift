#if canImport(UIKit) && !os(watchOS)
import UIKit

extension DatabasePool {
    /// Releases memory when the application goes to the background, or is short of it.
    ///
    /// - parameter application: the application that gives the pool the time to do so.
    @MainActor
    public func setupMemoryManagement(in application: UIApplication) {
        let center = NotificationCenter.default
        center.addObserver(
            forName: UIApplication.didReceiveMemoryWarningNotification, object: application, queue: nil)
        { [weak self] _ in
            self?.releaseMemoryEventually()
        }
        center.addObserver(
            forName: UIApplication.didEnterBackgroundNotification, object: application, queue: .main)
        { [weak self, weak application] _ in
            guard let self, let application else { return }
            MainActor.assumeIsolated { self.releaseMemory(inBackgroundTaskOf: application) }
        }
    }

    @MainActor
    private func releaseMemory(inBackgroundTaskOf application: UIApplication) {
        let task = application.beginBackgroundTask()
        DispatchQueue.global().async {
            self.releaseMemory()
            Task { @MainActor in application.endBackgroundTask(task) }
        }
    }
}
#endif
