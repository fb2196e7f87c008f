/// An SQL function or aggregate that is written in Swift.
///
/// ```swift
/// let succ = DatabaseFunction("succ", argumentCount: 1, pure: true) { values in
///     Int.fromDatabaseValue(values[0]).map { $0 + 1 }
/// }
/// db.add(function: succ)
/// ```
///
/// The calling statement throws the errors of the function. A ``DatabaseError`` keeps its code and message. Any other
/// error becomes `SQLITE_ERROR` with its description.
///
/// Source: <https://www.sqlite.org/appfunc.html>.
public final class DatabaseFunction: Identifiable, Sendable {
    /// The name and the number of arguments. Functions with the same name can have different numbers of arguments.
    public struct ID: Hashable, Sendable {
        let name: String

        /// The number of arguments. -1 for any number.
        let argumentCount: CInt
    }

    private enum Body: Sendable {
        case function(@Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?)
        case aggregate(@Sendable () -> any DatabaseAggregate)
    }

    /// The identity of the function.
    public let id: ID

    /// The name in SQL.
    public var name: String { id.name }

    var isAggregate: Bool { if case .aggregate = body { true } else { false } }

    private let isPure: Bool
    private let body: Body

    private init(_ name: String, argumentCount: Int?, pure: Bool, body: Body) {
        id = ID(name: name, argumentCount: argumentCount.map { CInt(clamping: $0) } ?? -1)
        isPure = pure
        self.body = body
    }

    /// Creates a function.
    ///
    /// - parameters:
    ///   - name: the name in SQL.
    ///   - argumentCount: the number of arguments. Nil, the default, for any number.
    ///   - pure: true if the result only depends on the arguments. SQLite may then call the function once for constant
    ///     arguments, and allows it in indexes. <https://www.sqlite.org/deterministic.html> Default: false.
    ///   - function: the function, which gets the arguments and returns the result. Nil is NULL.
    public convenience init(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false,
        function: @escaping @Sendable ([DatabaseValue]) throws -> (any DatabaseValueConvertible)?
    ) {
        self.init(name, argumentCount: argumentCount, pure: pure, body: .function(function))
    }

    /// Creates an aggregate. SQLite creates one `Aggregate` for each group of rows.
    public convenience init<Aggregate: DatabaseAggregate>(
        _ name: String, argumentCount: Int? = nil, pure: Bool = false, aggregate: Aggregate.Type
    ) {
        self.init(name, argumentCount: argumentCount, pure: pure, body: .aggregate { Aggregate() })
    }

    // MARK: - In a connection

    /// Registers the function. SQLite holds it until it is replaced or removed, or the connection is closed.
    func install(on connection: SQLiteConnection) -> CInt {
        let context = Unmanaged.passRetained(self).toOpaque()
        switch body {
        case .function:
            return RawConnection(connection).addFunction(
                name, id.argumentCount, isPure: isPure, context, call: callFunction, release: releaseFunction)
        case .aggregate:
            return RawConnection(connection).addFunction(
                name, id.argumentCount, isPure: isPure, context, step: stepAggregate, finalize: finalizeAggregate,
                release: releaseFunction)
        }
    }

    func uninstall(from connection: SQLiteConnection) -> CInt {
        RawConnection(connection).removeFunction(name, id.argumentCount)
    }

    fileprivate func call(_ arguments: [DatabaseValue]) throws -> DatabaseValue {
        guard case .function(let function) = body else { return .null }
        return try function(arguments)?.databaseValue ?? .null
    }

    fileprivate func makeAggregation() -> Aggregation {
        guard case .aggregate(let makeAggregate) = body else { fatalError("\(name) is not an aggregate") }
        return Aggregation(makeAggregate())
    }
}

/// A type that aggregates the rows of one group. See ``DatabaseFunction/init(_:argumentCount:pure:aggregate:)``.
public protocol DatabaseAggregate: SendableMetatype {
    /// Creates the state before the first row.
    init()

    /// Adds the arguments of one row.
    mutating func step(_ dbValues: [DatabaseValue]) throws

    /// Returns the result. Not called after an error.
    func finalize() throws -> (any DatabaseValueConvertible)?
}

/// The state of one group of rows.
private final class Aggregation {
    var aggregate: any DatabaseAggregate
    var hasFailed = false

    init(_ aggregate: any DatabaseAggregate) {
        self.aggregate = aggregate
    }
}

// MARK: - Called by SQLite

private func callFunction(
    _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    do {
        try function(of: context).call(arguments(count, values)).setResult(of: FunctionContext(context))
    } catch {
        setError(error, of: context)
    }
}

private func stepAggregate(
    _ context: OpaquePointer?, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    guard let slot = aggregationSlot(of: context, size: MemoryLayout<UnsafeRawPointer?>.size) else {
        return FunctionContext(context).failWithoutMemory()
    }
    let aggregation: Aggregation
    if let pointer = slot.pointee {
        aggregation = Unmanaged<Aggregation>.fromOpaque(pointer).takeUnretainedValue()
    } else {
        aggregation = function(of: context).makeAggregation()
        slot.pointee = Unmanaged.passRetained(aggregation).toOpaque()
    }
    guard !aggregation.hasFailed else { return }
    do {
        try aggregation.aggregate.step(arguments(count, values))
    } catch {
        aggregation.hasFailed = true
        setError(error, of: context)
    }
}

/// SQLite calls it once for each group, even if the statement ends early. It releases the memory of the group.
private func finalizeAggregate(_ context: OpaquePointer?) {
    // Without a slot there were no rows.
    let slot = aggregationSlot(of: context, size: 0)
    let aggregation =
        slot?.pointee.map { Unmanaged<Aggregation>.fromOpaque($0).takeRetainedValue() }
        ?? function(of: context).makeAggregation()
    slot?.pointee = nil
    guard !aggregation.hasFailed else { return }
    do {
        try (aggregation.aggregate.finalize()?.databaseValue ?? .null).setResult(of: FunctionContext(context))
    } catch {
        setError(error, of: context)
    }
}

private func releaseFunction(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<DatabaseFunction>.fromOpaque(context!).releaseLater()
}

private func function(of context: OpaquePointer?) -> DatabaseFunction {
    Unmanaged<DatabaseFunction>.fromOpaque(FunctionContext(context).registration!).takeUnretainedValue()
}

/// Returns memory that SQLite keeps for a group of rows. Nil if there is none, or no memory is available.
private func aggregationSlot(of context: OpaquePointer?, size: Int) -> UnsafeMutablePointer<UnsafeMutableRawPointer?>? {
    FunctionContext(context).groupMemory(size: size)?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
}

private func arguments(_ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?) -> [DatabaseValue] {
    UnsafeBufferPointer(start: values, count: Int(count)).map { DatabaseValue(SQLiteArgument($0!)) }
}

private func setError(_ error: any Error, of context: OpaquePointer?) {
    let databaseError = error as? DatabaseError
    FunctionContext(context).fail(
        databaseError.map { $0.message ?? "" } ?? "\(error)", code: databaseError?.extendedResultCode.rawValue)
}
