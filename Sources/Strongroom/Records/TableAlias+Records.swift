// The columns of a record type, as those of one use of its table.

extension TableAlias where RowDecoder: TableRecord {
    /// The columns that closures of this request use.
    public typealias DatabaseComponents = RowDecoder.DatabaseComponents

    /// An expression of the record type's components, with the columns of this table.
    public subscript<T: SQLSpecificExpressible>(
        dynamicMember keyPath: KeyPath<DatabaseComponents, T>
    ) -> SQLExpression {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// A JSON expression of the record type's components, with the columns of this table.
    public subscript<T: SQLJSONExpressible>(
        dynamicMember keyPath: KeyPath<DatabaseComponents, T>
    ) -> AnySQLJSONExpressible {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// An order of the record type's components, by the columns of this table.
    public subscript<T: SQLOrderingTerm>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>) -> SQLOrdering {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }

    /// A selection of the record type's components, of columns of this table.
    public subscript<T: SQLSelectable>(dynamicMember keyPath: KeyPath<DatabaseComponents, T>) -> SQLSelection {
        self[RowDecoder.databaseComponents[keyPath: keyPath]]
    }
}
