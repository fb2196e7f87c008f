/// A new value for a column: `SET column = value`.
///
/// ```swift
/// try Player.updateAll(db, Column("score") += 1)
/// ```
///
/// Source: <https://www.sqlite.org/lang_update.html>.
public struct ColumnAssignment {
    let columnName: String

    /// The new value; nil to leave the column as it is.
    let value: SQLExpression?

    func write(to writer: inout SQLWriter) throws {
        guard let value else { return }
        writer.append(columnName.quotedDatabaseIdentifier + " = ")
        try value.write(to: &writer)
    }
}

extension ColumnExpression {
    /// Sets the column; nil is NULL.
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(columnName: name, value: value?.sqlExpression ?? .null)
    }

    /// Leaves the column as it is, where an upsert would overwrite it.
    public var noOverwrite: ColumnAssignment {
        ColumnAssignment(columnName: name, value: nil)
    }

    /// `SET column = column + value`
    public static func += (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column + value)
    }

    /// `SET column = column - value`
    public static func -= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column - value)
    }

    /// `SET column = column * value`
    public static func *= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column * value)
    }

    /// `SET column = column / value`
    public static func /= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column / value)
    }

    /// `SET column = column & value`
    public static func &= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column & value)
    }

    /// `SET column = column | value`
    public static func |= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column | value)
    }

    /// `SET column = column << value`
    public static func <<= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column << value)
    }

    /// `SET column = column >> value`
    public static func >>= (column: Self, value: some SQLExpressible) -> ColumnAssignment {
        column.set(to: column >> value)
    }

    /// The column without its own type and without a table: its name alone.
    public var detached: SQLExpression { SQLExpression(node: .literal(SQL(sql: name.quotedDatabaseIdentifier))) }
}
