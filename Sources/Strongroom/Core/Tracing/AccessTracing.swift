/// The kind of an access.
enum AccessKind: String, CaseIterable, Sendable {
    case read, write

    /// A write while no other access of the same pool runs.
    case barrier
}

/// A recorder of accesses, such as a tracer of spans.
protocol AccessTracer: Sendable {
    /// False if it never records an access.
    var isRecording: Bool { get }

    /// True if traces get the SQL of statements.
    var showsSQL: Bool { get }

    /// Begins the trace of an access that the calling thread or task requests now. Nil if none is recorded.
    func begin(_ kind: AccessKind, of database: String) -> (any AccessTrace)?
}

/// The trace of one access.
protocol AccessTrace: Sendable {
    /// Runs `body` as a part of the trace.
    func run<T>(_ body: () throws -> T) rethrows -> T

    /// Suspends the task instead of blocking the thread.
    func run<T: Sendable>(_ body: () async throws -> T) async rethrows -> T

    /// Adds a statement without the values of its arguments.
    func add(sql: String)

    /// Ends the trace. To be called once.
    func end(_ error: (any Error)?)
}

/// The trace of the access that runs on the calling thread.
enum RunningTrace {
    @TaskLocal static var current: (any AccessTrace)?
}

/// The tracing of the accesses to one database. Without a tracer that records, an access costs one comparison.
struct AccessTracing: Sendable {
    /// Nil if none records.
    let tracer: (any AccessTracer)?
    let database: String

    // Stored: to compare the tracer with nil would copy it in each access.
    private let isTraced: Bool

    init(tracer: (any AccessTracer)?, database: String) {
        self.tracer = tracer.flatMap { $0.isRecording ? $0 : nil }
        self.database = database
        isTraced = self.tracer != nil
    }

    /// Runs an access on the calling thread.
    @inline(__always)
    func run<T>(_ kind: AccessKind, _ access: () throws -> T) rethrows -> T {
        if !isTraced { return try access() }
        return try runTraced(kind, access)
    }

    private func runTraced<T>(_ kind: AccessKind, _ access: () throws -> T) rethrows -> T {
        guard let trace = tracer?.begin(kind, of: database) else { return try access() }
        do {
            let value = try RunningTrace.$current.withValue(trace) { try trace.run(access) }
            trace.end(nil)
            return value
        } catch {
            trace.end(error)
            throw error
        }
    }

    /// Runs an access that the calling task awaits.
    func run<T: Sendable>(
        _ kind: AccessKind, with tracer: any AccessTracer, _ access: () async throws -> T
    ) async throws -> T {
        guard let trace = tracer.begin(kind, of: database) else { return try await access() }
        do {
            let value = try await RunningTrace.$current.withValue(trace) { try await trace.run(access) }
            trace.end(nil)
            return value
        } catch {
            trace.end(error)
            throw error
        }
    }

    /// Returns the function for an access that runs later. Its trace begins now.
    func later<Value>(
        _ kind: AccessKind, _ access: @escaping @Sendable (Value) -> Void
    ) -> @Sendable (Value) -> Void {
        guard let trace = tracer?.begin(kind, of: database) else { return access }
        return { value in
            RunningTrace.$current.withValue(trace) { trace.run { access(value) } }
            trace.end(nil)
        }
    }
}

extension Configuration {
    /// The recorder of the SQL that runs inside of accesses. Nil if none shows it.
    var recordsSQL: Bool { accessTracer?.showsSQL == true }
}
