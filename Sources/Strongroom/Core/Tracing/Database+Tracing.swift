import CSQLCipher
import Foundation

extension Database {
    /// The events that ``trace(options:_:)`` reports.
    public struct TracingOptions: OptionSet, Sendable {
        /// The bits of the set, which are SQLite's `SQLITE_TRACE_STMT` and its kin.
        public let rawValue: CInt

        /// Creates a set from its bits.
        public init(rawValue: CInt) {
            self.rawValue = rawValue
        }

        /// Statements when they start.
        public static let statement = TracingOptions(rawValue: SQLITE_TRACE_STMT)

        /// Statements when they end, with their duration.
        public static let profile = TracingOptions(rawValue: SQLITE_TRACE_PROFILE)
    }

    /// An event of a connection.
    public enum TraceEvent: CustomStringConvertible {
        /// A traced statement. It is valid during the call.
        public struct Statement: CustomStringConvertible {
            fileprivate let traced: Traced

            /// The SQL, without the values of its arguments.
            public var sql: String { traced.sql }

            /// The SQL with the values of its arguments. They may be secrets: keep them out of logs.
            ///
            /// After the traced function has returned, it is the same as `sql`.
            public var expandedSQL: String { traced.expandedSQL }

            /// The SQL. Contains the values of its arguments only if the configuration makes them public.
            public var description: String { traced.publicArguments ? expandedSQL : sql }
        }

        /// A statement starts.
        case statement(Statement)

        /// A statement has ended, after a duration in seconds.
        case profile(statement: Statement, duration: TimeInterval)

        /// The SQL, after the duration if there is one. Contains arguments only if the configuration makes them public.
        public var description: String {
            switch self {
            case .statement(let statement): statement.description
            case .profile(let statement, let duration): Self.seconds(duration) + " " + statement.description
            }
        }

        /// The SQL with the values of its arguments, after the duration. They may be secrets: keep them out of logs.
        public var expandedDescription: String {
            switch self {
            case .statement(let statement): statement.expandedSQL
            case .profile(let statement, let duration): Self.seconds(duration) + " " + statement.expandedSQL
            }
        }

        private static func seconds(_ duration: TimeInterval) -> String {
            String(format: "%.3fs", duration)
        }
    }

    /// Calls `trace` for each event of the connection. A further call replaces the function. Nil ends tracing.
    ///
    /// No event contains a key: statements that set one are omitted, and statements that attach a database don't show
    /// it.
    ///
    /// <https://www.sqlite.org/c3ref/trace_v2.html>
    public func trace(options: TracingOptions = .statement, _ trace: ((TraceEvent) -> Void)? = nil) {
        requireAccess()
        let recordsSQL = configuration.recordsSQL
        tracer = trace != nil || recordsSQL ? Tracer(self, trace.map { (options, $0) }) : nil
        setTrace()
    }

    /// Sets the trace again after the connection was reopened.
    func restoreTrace() {
        if tracer != nil { setTrace() }
    }

    private func setTrace() {
        let context = tracer.map { Unmanaged.passUnretained($0).toOpaque() }
        let options = tracer?.trace?.tracedEvents ?? []
        let mask = UInt32(options.union(configuration.recordsSQL ? .statement : []).rawValue)
        let code = raw.setTrace(mask, mask == 0 ? nil : traceEvent, context)
        precondition(code == SQLITE_OK, "sqlite3_trace_v2 answered \(code)")
    }

    /// Runs statements of the library without tracing them: a trace shows the program's own.
    func untraced<T>(_ body: () throws -> T) rethrows -> T {
        guard let tracer, !tracer.isSilent else { return try body() }
        tracer.isSilent = true
        defer { tracer.isSilent = false }
        return try body()
    }
}

/// A trace of a connection, which turns SQLite's calls into events.
final class Tracer {
    private unowned let database: Database

    /// The events and the function of the program. Nil if only the SQL of accesses is recorded.
    fileprivate let trace: (tracedEvents: Database.TracingOptions, report: (Database.TraceEvent) -> Void)?
    fileprivate var isSilent = false

    fileprivate init(
        _ database: Database, _ trace: (tracedEvents: Database.TracingOptions, report: (Database.TraceEvent) -> Void)?
    ) {
        self.database = database
        self.trace = trace
    }

    fileprivate func statementStarts(_ statement: SQLiteStatement, _ sql: String) {
        if database.configuration.recordsSQL, !isSilent, let trace = RunningTrace.current {
            if case .pragma = SQLText(sql).secret { return }
            trace.add(sql: SQLText.showable(sql))
        }
        guard let trace, trace.tracedEvents.contains(.statement) else { return }
        withTraced(statement, sql) { trace.report(.statement($0)) }
    }

    fileprivate func statementEnded(_ statement: SQLiteStatement, nanoseconds: Int64) {
        guard let trace, let sql = RawStatement(statement).sql else { return }
        withTraced(statement, sql) {
            trace.report(.profile(statement: $0, duration: TimeInterval(nanoseconds) / 1e9))
        }
    }

    private func withTraced(
        _ statement: SQLiteStatement, _ sql: String, _ report: (Database.TraceEvent.Statement) -> Void
    ) {
        if isSilent { return }
        if case .pragma = SQLText(sql).secret { return }
        let publicArguments = database.configuration.publicStatementArguments
        let traced = Traced(statement, sql: SQLText.showable(sql), publicArguments: publicArguments)
        // The statements of the function would be traced.
        database.barred(in: "the function given to trace") { report(Database.TraceEvent.Statement(traced: traced)) }
        traced.end()
    }
}

/// A traced statement, which is valid during the call.
private final class Traced {
    let sql: String
    let publicArguments: Bool
    private var statement: SQLiteStatement?

    init(_ statement: SQLiteStatement, sql: String, publicArguments: Bool) {
        self.statement = statement
        self.sql = sql
        self.publicArguments = publicArguments
    }

    var expandedSQL: String {
        // Statements of triggers are traced as comments. The statement is the one that fired them.
        guard let statement, !sql.hasPrefix("--"), let expanded = RawStatement(statement).expandedSQL else {
            return sql
        }
        return SQLText.showable(expanded)
    }

    func end() {
        statement = nil
    }
}

private func traceEvent(
    _ event: UInt32, _ context: UnsafeMutableRawPointer?,
    _ statement: UnsafeMutableRawPointer?, _ detail: UnsafeMutableRawPointer?
) -> CInt {
    guard let context, let statement, let detail else { return 0 }
    let tracer = Unmanaged<Tracer>.fromOpaque(context).takeUnretainedValue()
    if event == UInt32(SQLITE_TRACE_STMT) {
        tracer.statementStarts(SQLiteStatement(statement), String(cString: detail.assumingMemoryBound(to: CChar.self)))
    } else if event == UInt32(SQLITE_TRACE_PROFILE) {
        tracer.statementEnded(SQLiteStatement(statement), nanoseconds: detail.load(as: Int64.self))
    }
    return 0
}
