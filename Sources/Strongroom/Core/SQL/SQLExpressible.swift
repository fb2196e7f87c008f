/// A type whose values can stand for an expression in SQL.
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

/// An expression that is specific to SQL: a column, a literal, a function call; not a plain Swift value.
public protocol SQLSpecificExpressible: SQLExpressible, SQLSelectable, SQLOrderingTerm {}

extension SQLSpecificExpressible {
    public var sqlSelection: SQLSelection { SQLSelection(node: .expression(sqlExpression)) }
    public var sqlOrdering: SQLOrdering { SQLOrdering(node: .expression(sqlExpression)) }
}

/// A column, known by its name.
public protocol ColumnExpression: SQLSpecificExpressible {
    var name: String { get }
}

extension ColumnExpression {
    public var sqlExpression: SQLExpression { SQLExpression(node: .column(name)) }
}

extension ColumnExpression where Self: RawRepresentable, RawValue == String {
    /// The raw value: `enum Columns: String, ColumnExpression { case id, name }`.
    public var name: String { rawValue }
}

// Wrappers and enums select, and order by, their raw values. Declare the conformance; there is nothing to write.

extension SQLSelectable where Self: RawRepresentable, RawValue: SQLSelectable {
    public var sqlSelection: SQLSelection { rawValue.sqlSelection }
}

extension SQLOrderingTerm where Self: RawRepresentable, RawValue: SQLOrderingTerm {
    public var sqlOrdering: SQLOrdering { rawValue.sqlOrdering }
}

// Nil is NULL.

extension Optional: SQLSelectable where Wrapped: SQLSelectable {
    public var sqlSelection: SQLSelection { self?.sqlSelection ?? SQLSelection(node: .expression(.null)) }
}

extension Optional: SQLOrderingTerm where Wrapped: SQLOrderingTerm {
    public var sqlOrdering: SQLOrdering { self?.sqlOrdering ?? SQLOrdering(node: .expression(.null)) }
}

extension Optional: SQLSpecificExpressible where Wrapped: SQLSpecificExpressible {}

/// A column of a table.
public struct Column: ColumnExpression, Sendable {
    public var name: String

    public init(_ name: String) {
        self.name = name
    }

    /// The column that a coding key stands for.
    public init(_ codingKey: some CodingKey) {
        self.init(codingKey.stringValue)
    }

    /// The column that every table with rowids has. <https://www.sqlite.org/rowidtable.html>
    public static let rowID = Column("rowid")

    /// The relevance of a full-text match. <https://www.sqlite.org/fts5.html#the_auxiliary_functions>
    public static let rank = Column("rank")
}

extension SQLExpressible where Self == Column {
    /// The column that every table with rowids has. <https://www.sqlite.org/rowidtable.html>
    public static var rowID: Column { Column.rowID }
}

extension SQLSelectable where Self == Column {
    /// The column that every table with rowids has. <https://www.sqlite.org/rowidtable.html>
    public static var rowID: Column { Column.rowID }
}

extension ColumnExpression where Self == Column {
    /// The column that every table with rowids has. <https://www.sqlite.org/rowidtable.html>
    public static var rowID: Column { Column.rowID }
}
