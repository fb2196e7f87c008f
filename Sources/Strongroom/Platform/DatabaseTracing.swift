#if Tracing
import Tracing

/// Spans of the accesses to a database, for swift-distributed-tracing.
///
/// Each access is a span, from the call to the end: `strongroom.read`, `strongroom.write` or `strongroom.barrier`. It
/// is a child of the caller's span. Spans that its block begins are its children. An access inside of another one has
/// no span of its own.
///
/// A span has the label of the database, the kind of the access and the code of an error. It contains no values, and
/// no SQL unless ``showsSQL`` is set.
public struct DatabaseTracing: Sendable {
    /// A Boolean value that indicates whether spans contain the SQL of the access, without arguments. Default: false.
    ///
    /// SQL contains values when a program writes them into it, instead of using arguments. Keys are always removed.
    public var showsSQL: Bool

    /// The tracer. Nil, the default, for that of `InstrumentationSystem` at the moment when
    /// ``Configuration/tracing`` is set: bootstrap the system before.
    public var tracer: (any Tracing.Tracer)?

    /// Creates the options of spans.
    ///
    /// - parameters:
    ///   - showsSQL: true for spans with SQL. Default: false.
    ///   - tracer: the tracer. Default: nil, for that of `InstrumentationSystem`.
    public init(showsSQL: Bool = false, tracer: (any Tracing.Tracer)? = nil) {
        self.showsSQL = showsSQL
        self.tracer = tracer
    }
}

extension Configuration {
    /// The spans of accesses. Default: nil, for none.
    public var tracing: DatabaseTracing? {
        get { (accessTracer as? SpanTracer)?.options }
        set { accessTracer = newValue.map { SpanTracer(options: $0) } }
    }
}

private struct SpanTracer: AccessTracer {
    let options: DatabaseTracing

    /// Nil if spans would be discarded. Found once: the system looks for its tracer under a lock.
    private let tracer: (any Tracing.Tracer)?

    init(options: DatabaseTracing) {
        self.options = options
        let tracer = options.tracer ?? InstrumentationSystem.tracer
        self.tracer = tracer is NoOpTracer ? nil : tracer
    }

    var isRecording: Bool { tracer != nil }
    var showsSQL: Bool { options.showsSQL && isRecording }

    func begin(_ kind: AccessKind, of database: String) -> (any AccessTrace)? {
        guard let tracer else { return nil }
        let span = tracer.startAnySpan("strongroom.\(kind.rawValue)", ofKind: .internal)
        guard span.isRecording else { return SpanTrace(span: span) }
        span.attributes["db.system.name"] = "sqlite"
        span.attributes["db.namespace"] = database
        span.attributes["db.operation.name"] = kind.rawValue
        return SpanTrace(span: span)
    }
}

private struct SpanTrace: AccessTrace {
    /// The maximum length of the SQL in a span, in UTF-8 bytes. What exceeds it is omitted.
    private static let limit = 4096

    let span: any Tracing.Span
    private let sql = Mutex("")

    init(span: any Tracing.Span) {
        self.span = span
    }

    func run<T>(_ body: () throws -> T) rethrows -> T {
        try ServiceContext.$current.withValue(span.context, operation: body)
    }

    func run<T: Sendable>(_ body: () async throws -> T) async rethrows -> T {
        try await ServiceContext.$current.withValue(span.context, operation: body)
    }

    func add(sql added: String) {
        guard span.isRecording else { return }
        sql.withLock { sql in
            guard sql.utf8.count + added.utf8.count + 2 <= Self.limit else { return }
            sql += sql.isEmpty ? added : "; " + added
        }
    }

    func end(_ error: (any Error)?) {
        let sql = sql.withLock { $0 }
        if !sql.isEmpty { span.attributes["db.query.text"] = sql }
        if let error {
            span.attributes["error.type"] = Self.type(of: error)
            span.setStatus(SpanStatus(code: .error))
        }
        span.end()
    }

    /// Not the description of the error, which contains SQL.
    private static func type(of error: any Error) -> String {
        guard let error = error as? DatabaseError else { return String(describing: Swift.type(of: error)) }
        return error.reason.map { "\(error.extendedResultCode) (\($0))" } ?? "\(error.extendedResultCode)"
    }
}
#endif
