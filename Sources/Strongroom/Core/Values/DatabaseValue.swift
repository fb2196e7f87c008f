import Foundation

/// A value as SQLite stores it: NULL, a 64-bit integer, a double, text or a blob.
///
/// Source: <https://www.sqlite.org/datatype3.html>.
@frozen
public struct DatabaseValue: Sendable {
    /// The five storage classes.
    @frozen
    public enum Storage: Sendable {
        case null
        case int64(Int64)
        case double(Double)
        case string(String)
        case blob(Data)

        /// The value as `Int64`, `Double`, `String` or `Data`; nil for NULL.
        public var value: (any DatabaseValueConvertible)? {
            switch self {
            case .null: nil
            case .int64(let value): value
            case .double(let value): value
            case .string(let value): value
            case .blob(let value): value
            }
        }
    }

    /// The value by its storage class.
    public let storage: Storage

    /// The NULL of SQL.
    @inlinable public static var null: DatabaseValue { DatabaseValue(storage: .null) }

    @inlinable
    init(storage: Storage) {
        self.storage = storage
    }

    /// A Boolean value that indicates whether the value is NULL.
    public var isNull: Bool {
        if case .null = storage { true } else { false }
    }

    /// Creates the database value of any convertible value. Nil if `value` can't be converted.
    public init?(value: Any) {
        guard let convertible = value as? any DatabaseValueConvertible else { return nil }
        self = convertible.databaseValue
    }

    /// Creates the value of a column in the current row of a statement. `index` is not checked.
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index)
        switch column.kind {
        case .null: storage = .null
        case .integer: storage = .int64(column.int64)
        case .double: storage = .double(column.double)
        case .text: storage = .string(column.withText(.text) { String(decoding: $0, as: UTF8.self) })
        case .blob: storage = .blob(Data(sqliteStatement: sqliteStatement, index: index))
        }
    }
}

extension DatabaseValue: Hashable {
    /// Returns true if the values are equal. Integers and doubles are compared by value.
    public static func == (lhs: DatabaseValue, rhs: DatabaseValue) -> Bool {
        switch (lhs.storage, rhs.storage) {
        case (.int64(let a), .double(let b)): Int64(exactly: b) == a
        case (.double(let a), .int64(let b)): Int64(exactly: a) == b
        default: lhs.storage == rhs.storage
        }
    }

    /// Hashes the value. An integer has the hash of the double that it may be equal to.
    public func hash(into hasher: inout Hasher) {
        switch storage {
        case .null:
            hasher.combine(0)
        case .int64(let value):
            hasher.combine(Double(value))
        case .double(let value):
            hasher.combine(value)
        case .string(var value):
            value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let value):
            hasher.combine(value)
        }
    }
}

extension DatabaseValue.Storage: Equatable {
    /// Returns true if storage class and value are equal. Text is compared by its bytes: SQLite distinguishes
    /// canonically equivalent strings.
    public static func == (lhs: DatabaseValue.Storage, rhs: DatabaseValue.Storage) -> Bool {
        switch (lhs, rhs) {
        case (.null, .null): true
        case (.int64(let a), .int64(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a.hasBytes(of: b)
        case (.blob(let a), .blob(let b)): a == b
        default: false
        }
    }
}

extension DatabaseValue {
    /// True if a cached statement should not keep the value.
    var isLarge: Bool {
        switch storage {
        case .string(let value): value.isLarge
        case .blob(let value): value.isLarge
        default: false
        }
    }

    /// The size in bytes from which an argument is large.
    static let largeSize = 16_384
}

extension String {
    /// True if a cached statement should not keep the text.
    var isLarge: Bool { utf8.count > DatabaseValue.largeSize }
}

extension Data {
    var isLarge: Bool { count > DatabaseValue.largeSize }
}

extension DatabaseValue: DatabaseValueConvertible {
    /// The value as a database value.
    public var databaseValue: DatabaseValue { self }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { !isLarge }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> DatabaseValue? { dbValue }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch storage {
        case .null: StatementParameter(sqliteStatement, index).bindNull()
        case .int64(let value): value.bind(to: sqliteStatement, at: index)
        case .double(let value): value.bind(to: sqliteStatement, at: index)
        case .string(let value): value.bind(to: sqliteStatement, at: index)
        case .blob(let value): value.bind(to: sqliteStatement, at: index)
        }
    }
}

extension DatabaseValue: StatementColumnConvertible {
    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    public static func fromStatement(
        _ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt
    ) -> DatabaseValue? {
        // Without the failable initializer of all such types, which calls this function.
        .some(DatabaseValue(sqliteStatement: sqliteStatement, index: index))
    }
}

extension DatabaseValue: SQLSpecificExpressible {}

extension DatabaseValue: CustomStringConvertible {
    /// `NULL`, `1`, `1.5`, `"Arthur"`. Only the size of a blob.
    public var description: String {
        switch storage {
        case .null: "NULL"
        case .int64(let value): value.description
        case .double(let value): value.description
        case .string(let value): value.debugDescription
        case .blob(let value): "Data(\(value.count) bytes)"
        }
    }
}
