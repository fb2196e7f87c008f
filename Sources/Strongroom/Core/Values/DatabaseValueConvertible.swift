import Foundation

/// A type whose values can be bound to a parameter of a statement.
public protocol StatementBinding {
    /// Binds the value; returns SQLite's result code.
    ///
    /// Source: <https://www.sqlite.org/c3ref/bind_blob.html>.
    func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt
}

/// A type whose values can be stored in a database column, and read back from it.
///
/// Conforming types give a ``DatabaseValue`` and are made from one. `fromDatabaseValue(_:)` answers nil for values it
/// does not understand: the caller turns that into an error that names the column, the value and the type.
public protocol DatabaseValueConvertible: SQLExpressible, StatementBinding {
    var databaseValue: DatabaseValue { get }

    static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self?

    /// True if an argument list may keep the value as it is, and have it converted when it is bound: the value is
    /// small, shares nothing that may change, and its conversion has no effects. For types of this library; false for
    /// all others.
    var _isPlainValue: Bool { get }

    /// The value of a column that a row does not have: nil, and thereby an error, unless the type is an optional.
    static func fromMissingColumn() -> Self?

    /// The decoder of `Decodable` values stored as JSON.
    static func databaseJSONDecoder() -> JSONDecoder

    /// The encoder of `Encodable` values stored as JSON.
    static func databaseJSONEncoder() -> JSONEncoder
}

extension DatabaseValueConvertible {
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        databaseValue.bind(to: sqliteStatement, at: index)
    }

    public var _isPlainValue: Bool { false }

    public static func fromMissingColumn() -> Self? { nil }

    public var sqlExpression: SQLExpression { .value(databaseValue) }

    /// Dates in milliseconds since 1970; for the rest Foundation's defaults: data in Base64, no infinities, no NaN.
    public static func databaseJSONDecoder() -> JSONDecoder {
        let json = JSONDecoder()
        json.dateDecodingStrategy = .millisecondsSince1970
        return json
    }

    /// As ``databaseJSONDecoder()`` reads, with sorted keys, so that equal values have equal texts.
    public static func databaseJSONEncoder() -> JSONEncoder {
        let json = JSONEncoder()
        json.dateEncodingStrategy = .millisecondsSince1970
        json.outputFormatting = .sortedKeys
        return json
    }
}

/// A type whose values are read straight from a statement's column, without a ``DatabaseValue`` in between.
///
/// Source: <https://www.sqlite.org/c3ref/column_blob.html>.
public protocol StatementColumnConvertible {
    /// The column's value in the current row; nil when it is NULL or can't be converted. `index` is valid.
    static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self?

    /// The value of a column that is not NULL; nil when it can't be converted. `index` is valid.
    init?(sqliteStatement: SQLiteStatement, index: CInt)
}

extension StatementColumnConvertible {
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        if StatementColumn(sqliteStatement, index).isNull { return nil }
        return Self(sqliteStatement: sqliteStatement, index: index)
    }

    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Self.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        self = value
    }
}
