/// An assignment of a new value to a column: `SET column = value`.
///
/// ```swift
/// try Player.updateAll(db, Column("score") += 1)
/// ```
///
/// Source: <https://www.sqlite.org/lang_update.html>.
public struct ColumnAssignment {
    let columnName: String

    /// The new value. Nil to leave the column unchanged.
    let value: SQLExpression?

    func write(to writer: inout SQLWriter) throws {
        guard let value else { return }
        writer.append(columnName.quotedDatabaseIdentifier + " = ")
        try value.write(to: &writer)
    }
}

extension ColumnExpression {
    /// Returns an assignment of a value. Nil is NULL.
    public func set(to value: (any SQLExpressible)?) -> ColumnAssignment {
        ColumnAssignment(columnName: name, value: value?.sqlExpression ?? .null)
    }

    /// An assignment that leaves the column unchanged in an upsert.
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

    /// The name of the column only, without its type and table.
    public var detached: SQLExpression { SQLExpression(node: .literal(SQL(sql: name.quotedDatabaseIdentifier))) }
}
