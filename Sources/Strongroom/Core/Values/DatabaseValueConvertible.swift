import Foundation

/// A type whose values can be bound to a parameter of a statement.
public protocol StatementBinding {
    /// Binds the value. Returns SQLite's result code.
    ///
    /// Source: <https://www.sqlite.org/c3ref/bind_blob.html>.
    func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt
}

/// A type whose values can be stored in a database column, and read back from it.
///
/// Conforming types convert to and from a ``DatabaseValue``. `fromDatabaseValue(_:)` returns nil for values that can't
/// be converted: the caller turns that into an error with the column, the value and the type.
public protocol DatabaseValueConvertible: SQLExpressible, StatementBinding {
    var databaseValue: DatabaseValue { get }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// Returns the value of a column in the statement's current row, or throws `error` if it can't be converted.
    ///
    /// A requirement, and no optional, for code that knows the type only at run time: it calls what was compiled for
    /// the type, and looks up no other types.
    static func _value(
        _ sqliteStatement: SQLiteStatement, at index: CInt, orThrow error: () -> any Error
    ) throws -> Self

    /// True if an argument list can hold the value itself and convert it when it is bound: the value is small, shares
    /// no mutable state, and its conversion has no effects. For types of this library. False for all others.
    var _isPlainValue: Bool { get }

    /// Returns the value for a column that a row doesn't have: nil, which is an error, unless the type is an optional.
    static func fromMissingColumn() -> Self?

    /// Returns the decoder of `Decodable` values that are stored as JSON.
    static func databaseJSONDecoder() -> JSONDecoder

    /// Returns the encoder of `Encodable` values that are stored as JSON.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        databaseValue.bind(to: sqliteStatement, at: index)
    }

    /// Returns the value of a column in the statement's current row, or throws `error` if it can't be converted.
    @inlinable
    public static func _value(
        _ sqliteStatement: SQLiteStatement, at index: CInt, orThrow error: () -> any Error
    ) throws -> Self {
        let dbValue = DatabaseValue(sqliteStatement: sqliteStatement, index: index)
        guard let value = fromDatabaseValue(dbValue) else { throw error() }
        return value
    }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { false }

    /// Returns nil: a missing column is an error.
    public static func fromMissingColumn() -> Self? { nil }

    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { .value(databaseValue) }

    /// Returns a decoder with dates in milliseconds since 1970, and otherwise Foundation's defaults: data in Base64, no
    /// infinities, no NaN.
    public static func databaseJSONDecoder() -> JSONDecoder {
        let json = JSONDecoder()
        json.dateDecodingStrategy = .millisecondsSince1970
        return json
    }

    /// Returns the encoder for ``databaseJSONDecoder()``, with sorted keys, so that equal values have equal texts.
    public static func databaseJSONEncoder() -> JSONEncoder {
        let json = JSONEncoder()
        json.dateEncodingStrategy = .millisecondsSince1970
        json.outputFormatting = .sortedKeys
        return json
    }
}

extension DatabaseValueConvertible where Self: StatementColumnConvertible {
    /// Returns the value of a column in the statement's current row, or throws `error` if it can't be converted.
    @inlinable
    public static func _value(
        _ sqliteStatement: SQLiteStatement, at index: CInt, orThrow error: () -> any Error
    ) throws -> Self {
        guard let value = fromStatement(sqliteStatement, atUncheckedIndex: index) else { throw error() }
        return value
    }
}

/// A type whose values are read directly from a statement's column, without a ``DatabaseValue``.
///
/// Source: <https://www.sqlite.org/c3ref/column_blob.html>.
public protocol StatementColumnConvertible {
    /// Returns the column's value in the current row. Nil if it is NULL or can't be converted. `index` is valid.
    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self?

    /// Creates the value of a column that is not NULL. Nil if it can't be converted. `index` is valid.
    init?(sqliteStatement: SQLiteStatement, index: CInt)
}

extension StatementColumnConvertible {
    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        if StatementColumn(sqliteStatement, index).isNull { return nil }
        return Self(sqliteStatement: sqliteStatement, index: index)
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Self.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        self = value
    }
}
