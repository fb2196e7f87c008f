/// An error of replication.
///
/// ``reason-swift.property`` is the cause, as data for programs. The description has the cause in words, the state of
/// things, and the remedy.
public struct ReplicaError: Error, Hashable, Sendable {
    /// The cause of an error.
    public enum Reason: Hashable, Sendable {
        /// The destination can't be reached, answers with an error that may pass, or is a folder that no longer
        /// contains the replica, as on a disk that is not mounted.
        case destinationUnavailable
        /// The destination refuses the credentials.
        case accessDenied
        /// The name of the destination, or one of its options, is invalid.
        case invalidDestination
        /// The destination has no replica.
        case noReplica
        /// The destination does not have the requested restore point.
        case noPoint
        /// The newest restore point is older than the requested position, than one that was sealed, or than a database
        /// that follows.
        case behind
        /// An object is missing, or its content is not what its name or its successor says.
        case damaged
        /// An object is not signed by the expected key.
        case untrusted
        /// Two histories claim the same position or the same time.
        case forked
        /// Another replicator uses the same local state.
        case busy
        /// Another replicator writes to the same place of the destination.
        case superseded
        /// A file already exists at the path of the restored database.
        case exists
        /// The file can't be read as a database, or another program has changed a followed one.
        case unreadable
        /// There is no room for a file.
        case diskFull
        /// Another system call failed.
        case system
        /// The replica was stopped before the work was done.
        case stopped
    }

    /// The cause.
    public let reason: Reason
    /// The file or object that the error is about. `nil` if there is none.
    public let subject: String?
    /// The event, the state of things, and what to do. Contains no secret.
    public let message: String

    init(_ reason: Reason, _ subject: String? = nil, _ message: String) {
        self.reason = reason
        self.subject = subject
        self.message = message
    }

    /// True if the same work can succeed later.
    var isTransient: Bool { reason == .destinationUnavailable || reason == .diskFull }
}

extension ReplicaError: CustomStringConvertible {
    /// The subject and the message.
    public var description: String { (subject.map { "\($0): " } ?? "") + message }
}

extension ReplicaError {
    static func damaged(_ object: String, _ problem: String) -> ReplicaError {
        ReplicaError(.damaged, object, "\(problem); nothing was written. Choose an earlier restore point.")
    }
}
