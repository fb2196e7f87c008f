/// An ordering term of a query's rows.
///
/// Source: <https://www.sqlite.org/lang_select.html#orderby>.
public struct SQLOrdering: SQLOrderingTerm, Sendable {
    enum Direction: String, Sendable {
        case ascending = " ASC"
        case descending = " DESC"
        case ascendingNullsLast = " ASC NULLS LAST"
        case descendingNullsFirst = " DESC NULLS FIRST"

        var reversed: Direction {
            switch self {
            case .ascending: .descending
            case .descending: .ascending
            case .ascendingNullsLast: .descendingNullsFirst
            case .descendingNullsFirst: .ascendingNullsLast
            }
        }
    }

    indirect enum Node: Sendable {
        case expression(SQLExpression)
        case term(SQLExpression, Direction)
        case literal(SQL)
        case qualified(SQLOrdering, TableAliasBase)
    }

    let node: Node

    /// The value as an ordering term.
    public var sqlOrdering: SQLOrdering { self }

    /// The opposite order.
    var reversed: SQLOrdering {
        switch node {
        case .expression(let expression): SQLOrdering(node: .term(expression, .descending))
        case .term(let expression, .descending): SQLOrdering(node: .term(expression, .ascending))
        case .term(let expression, let direction): SQLOrdering(node: .term(expression, direction.reversed))
        case .qualified(let ordering, let alias): SQLOrdering(node: .qualified(ordering.reversed, alias))
        case .literal:
            fatalError(
                """
                An order that is SQL text can't be reversed. Order by an expression instead: \
                order(SQL("score + bonus").sqlExpression).
                """)
        }
    }

    func write(to writer: inout SQLWriter) throws {
        switch node {
        case .expression(let expression):
            try expression.write(to: &writer)
        case .term(let expression, let direction):
            try expression.write(to: &writer)
            writer.append(direction.rawValue)
        case .literal(let sql):
            try sql.write(to: &writer)
        case .qualified(let ordering, let alias):
            try writer.qualified(by: alias) { try ordering.write(to: &$0) }
        }
    }
}
