/// One use of a table in a request, which distinguishes its columns from those of other uses.
///
/// Sendable: subclasses add nothing that changes.
public class TableAliasBase: @unchecked Sendable {
    /// The name in SQL. Nil to let the request choose it.
    let name: String?

    /// The table, if the alias refers to one that the writer of the SQL doesn't know.
    let tableName: String?

    init(aliasName: String?, tableName: String? = nil) {
        self.name = aliasName
        self.tableName = tableName
    }

    /// The expression with the columns of this table.
    public subscript(expression: some SQLSpecificExpressible) -> SQLExpression {
        SQLExpression(node: .qualified(expression.sqlExpression, self))
    }

    /// The JSON expression with the columns of this table.
    public subscript(expression: some SQLJSONExpressible) -> AnySQLJSONExpressible {
        AnySQLJSONExpressible(expression: SQLExpression(node: .qualified(expression.sqlExpression.holdingJSON, self)))
    }

    /// The order by the columns of this table.
    public subscript(ordering: some SQLOrderingTerm) -> SQLOrdering {
        SQLOrdering(node: .qualified(ordering.sqlOrdering, self))
    }

    /// The selection of columns of this table.
    public subscript(selectable: some SQLSelectable) -> SQLSelection {
        SQLSelection(node: .qualified(selectable.sqlSelection, self))
    }

    subscript(any selectable: any SQLSelectable) -> SQLSelection {
        SQLSelection(node: .qualified(selectable.sqlSelection, self))
    }

    /// A column of this table.
    public subscript(column: String) -> SQLExpression {
        self[Column(column)]
    }
}

extension TableAliasBase: Hashable {
    /// Returns true if the aliases are the same object.
    public static func == (lhs: TableAliasBase, rhs: TableAliasBase) -> Bool { lhs === rhs }

    /// Hashes the identity of the alias.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// A ``TableAliasBase`` with the record type of its table.
///
/// ```swift
/// let alias = TableAlias<Player>(name: "p")
/// let request = Player.all().aliased(alias).filter(alias.score > 1000)
/// // SELECT "p".* FROM "player" "p" WHERE "p"."score" > 1000
/// ```
@dynamicMemberLookup
public final class TableAlias<RowDecoder>: TableAliasBase, @unchecked Sendable {
    /// Creates an alias of a table.
    ///
    /// - parameters:
    ///   - name: the name in SQL. Default: nil, to let the request choose it.
    ///   - record: the record type of the table.
    public init(name: String? = nil, for record: RowDecoder.Type = RowDecoder.self) {
        super.init(aliasName: name)
    }

    /// Creates an alias of any table.
    ///
    /// - parameter name: the name in SQL. Default: nil, to let the request choose it.
    public init(name: String? = nil) where RowDecoder == Void {
        super.init(aliasName: name)
    }
}
