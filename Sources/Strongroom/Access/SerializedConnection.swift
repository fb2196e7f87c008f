import CStrongroom
import Dispatch

/// Gives one thread after the other access to a connection.
///
/// Sendable although ``Database`` is not: the connection is touched on `queue` only, which runs one access at a time.
final class SerializedConnection: @unchecked Sendable {
    private let database: Database
    private let queue: DispatchQueue

    /// Opens the connection and makes it ready for use.
    ///
    /// - parameter role: what the connection's name gets after the configuration's label, such as `.writer`.
    init(
        path: String,
        configuration: Configuration,
        defaultLabel: String,
        role: String = "",
        target: DispatchQueue?,
        qos: DispatchQoS) throws
    {
        let name = (configuration.label ?? defaultLabel) + role
        database = try Database(path: path, description: name, configuration: configuration)
        queue = DispatchQueue(label: name, qos: qos, target: target)
        do {
            try sync { try $0.setUp() }
        } catch {
            sync { $0.abandon() }
            throw error
        }
    }

    deinit {
        // Nobody else holds the connection: the access can't have to wait.
        let former = strongroom_enter(database.connection)
        database.abandon()
        strongroom_exit(database.connection, former)
    }

    var configuration: Configuration { database.configuration }

    /// Whether the calling thread is inside an access to this connection.
    var isAccessed: Bool { strongroom_has_access(database.connection) }

    /// Runs `block` with access, after all accesses that came before.
    ///
    /// - precondition: the calling thread has no access yet.
    func sync<T>(_ block: (Database) throws -> T) rethrows -> T {
        if isAccessed {
            fatalError("""
                Database methods are not reentrant: \(database.description) is already being accessed by this thread. \
                Pass the `db` argument along, or use unsafeReentrantRead or unsafeReentrantWrite.
                """)
        }
        return try queue.sync { try access(block) }
    }

    /// Runs `block` with access, at once when the calling thread has it already.
    func reentrantSync<T>(_ block: (Database) throws -> T) rethrows -> T {
        isAccessed ? try block(database) : try sync(block)
    }

    /// Runs `block` with access, later.
    func async(_ block: @escaping @Sendable (Database) -> Void) {
        queue.async { self.access(block) }
    }

    /// Interrupts what the connection does at this moment. Safe from any thread, even when the connection is closed.
    func interrupt() {
        strongroom_connection_interrupt(database.connection)
    }

    private func access<T>(_ block: (Database) throws -> T) rethrows -> T {
        let former = strongroom_enter(database.connection)
        defer {
            database.endAccess()
            strongroom_exit(database.connection, former)
        }
        return try block(database)
    }
}
