/// One use of a table in a request: what tells apart the columns of several.
///
/// Sendable: subclasses add nothing that changes.
public class TableAliasBase: @unchecked Sendable {
    /// The name in SQL; nil to let the request choose.
    let name: String?

    /// The table, where the alias stands for one that the writer of the SQL doesn't know.
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
    /// Aliases are equal when they are the same object.
    public static func == (lhs: TableAliasBase, rhs: TableAliasBase) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// A ``TableAliasBase`` that knows the record type of its table.
///
/// ```swift
/// let alias = TableAlias<Player>(name: "p")
/// let request = Player.all().aliased(alias).filter(alias.score > 1000)
/// SELECT "p".* FROM "player" "p" WHERE "p"."score" > 1000
/// ```
@dynamicMemberLookup
public final class TableAlias<RowDecoder>: TableAliasBase, @unchecked Sendable {
    /// An alias of a table.
    ///
    /// - parameter name: the name in SQL; by default the request chooses.
    public init(name: String? = nil, for record: RowDecoder.Type = RowDecoder.self) {
        super.init(aliasName: name)
    }

    /// An alias of any table.
    ///
    /// - parameter name: the name in SQL; by default the request chooses.
    public init(name: String? = nil) where RowDecoder == Void {
        super.init(aliasName: name)
    }
}
