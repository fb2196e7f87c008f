import CStrongroom
import Foundation

extension Database {
    /// Runs `body` while the connection follows suspension notifications, for work on a file outside of a queue or
    /// pool.
    func followingSuspensions<T>(_ body: () throws -> T) rethrows -> T {
        let suspension = FollowedSuspension(connection)
        defer { suspension.end() }
        return try body()
    }
}

/// The suspension of a connection outside of a queue or pool.
///
/// Sendable because `connection` has its own lock, and its owner alone uses `tokens`.
private final class FollowedSuspension: @unchecked Sendable {
    private let connection: Mutex<UnsafeMutablePointer<strongroom_connection>?>
    private var tokens: [any NSObjectProtocol] = []

    init(_ connection: UnsafeMutablePointer<strongroom_connection>) {
        self.connection = Mutex(connection)
        follow(Database.suspendNotification) { strongroom_connection_suspend($0, true) }
        follow(Database.resumeNotification) { strongroom_connection_resume($0) }
    }

    private func follow(
        _ name: Notification.Name, _ react: @escaping @Sendable (UnsafeMutablePointer<strongroom_connection>) -> Void)
    {
        tokens.append(NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] _ in
            self?.connection.withLock { connection in
                if let connection { react(connection) }
            }
        })
    }

    /// Ends it. A notification that arrives later has no effect.
    func end() {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        connection.withLock { $0 = nil }
    }
}
