/// A type whose values can be used as expressions in SQL.
public protocol SQLExpressible {
    var sqlExpression: SQLExpression { get }
}

/// A type whose values can be selected by a query.
public protocol SQLSelectable {
    var sqlSelection: SQLSelection { get }
}

/// A type whose values can order the rows of a query.
public protocol SQLOrderingTerm {
    var sqlOrdering: SQLOrdering { get }
}

/// A type that represents an SQL expression: a column, a literal, a function call. Plain Swift values are not.
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

extension SQLSpecificExpressible {
    /// The value as a selection.
    public var sqlSelection: SQLSelection { SQLSelection(node: .expression(sqlExpression)) }
    /// The value as an ordering term.
    public var sqlOrdering: SQLOrdering { SQLOrdering(node: .expression(sqlExpression)) }
}

/// A type that represents a column with a name.
public protocol ColumnExpression: SQLSpecificExpressible {
    var name: String { get }
}

extension ColumnExpression {
    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { SQLExpression(node: .column(name)) }
}

extension ColumnExpression where Self: RawRepresentable, RawValue == String {
    /// The raw value: `enum Columns: String, ColumnExpression { case id, name }`.
    public var name: String { rawValue }
}

// The raw values of wrappers and enumerations are selections and ordering terms. A declared conformance is enough.

extension SQLSelectable where Self: RawRepresentable, RawValue: SQLSelectable {
    /// The value as a selection.
    public var sqlSelection: SQLSelection { rawValue.sqlSelection }
}

extension SQLOrderingTerm where Self: RawRepresentable, RawValue: SQLOrderingTerm {
    /// The value as an ordering term.
    public var sqlOrdering: SQLOrdering { rawValue.sqlOrdering }
}

// Nil is NULL.

extension Optional: SQLSelectable where Wrapped: SQLSelectable {
    /// The value as a selection.
    public var sqlSelection: SQLSelection { self?.sqlSelection ?? SQLSelection(node: .expression(.null)) }
}

extension Optional: SQLOrderingTerm where Wrapped: SQLOrderingTerm {
    /// The value as an ordering term.
    public var sqlOrdering: SQLOrdering { self?.sqlOrdering ?? SQLOrdering(node: .expression(.null)) }
}

extension Optional: SQLSpecificExpressible where Wrapped: SQLSpecificExpressible {}

/// A column of a table.
public struct Column: ColumnExpression, Sendable {
    /// The name of the column.
    public var name: String

    /// Creates a column from its name.
    public init(_ name: String) {
        self.name = name
    }

    /// Creates a column from a coding key.
    public init(_ codingKey: some CodingKey) {
        self.init(codingKey.stringValue)
    }

    /// The rowid, a column of each table with rowids. <https://www.sqlite.org/rowidtable.html>
    public static let rowID = Column("rowid")

    /// The relevance of a full-text match. <https://www.sqlite.org/fts5.html#the_auxiliary_functions>
    public static let rank = Column("rank")
}

extension SQLExpressible where Self == Column {
    /// The rowid, a column of each table with rowids. <https://www.sqlite.org/rowidtable.html>
    public static var rowID: Column { Column.rowID }
}

extension SQLSelectable where Self == Column {
    /// The rowid, a column of each table with rowids. <https://www.sqlite.org/rowidtable.html>
    public static var rowID: Column { Column.rowID }
}

extension ColumnExpression where Self == Column {
    /// The rowid, a column of each table with rowids. <https://www.sqlite.org/rowidtable.html>
    public static var rowID: Column { Column.rowID }
}
