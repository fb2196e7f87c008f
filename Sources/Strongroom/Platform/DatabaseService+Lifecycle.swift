#if ServiceLifecycle
import ServiceLifecycle

extension DatabaseService: Service {
    /// Opens the database, waits for the graceful shutdown of the service group, and shuts the database down.
    ///
    /// List the service before those that use the database: a group stops its services in the opposite order.
    public func run() async throws {
        try await run(until: { try await gracefulShutdown() })
    }
}
#endif
