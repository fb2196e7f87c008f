/// The rows of a table: filter, order, selection and joins.
///
/// The tables, conditions, order and joins of a query. Parts that depend on the schema are functions of the connection,
/// called each time the SQL is written.
public struct SQLRelation: Sendable {
    typealias Connected<Value> = @Sendable (Database) throws -> Value

    enum Order: Sendable {
        case terms(Connected<[SQLOrdering]>)

        /// The order of the primary key, or of all columns without one.
        case stable
    }

    var source: SQLSource
    var selection: [Connected<[SQLSelection]>]
    var filters: [Connected<SQLExpression>] = []
    var orderings: [Order] = []

    /// True if the whole order is reversed, including that of joined tables.
    var isReversed = false

    /// The tables that are joined in the same statement.
    var joins: [SQLJoin] = []

    /// The rows that further statements fetch.
    var prefetches: [SQLPrefetch] = []

    /// Queries that have a name in the statement.
    var commonTables: [SQLCommonTable] = []

    init(source: SQLSource, selection: [Connected<[SQLSelection]>]) {
        self.source = source
        self.selection = selection
    }

    func selection(_ db: Database) throws -> [SQLSelection] {
        try selection.flatMap { try $0(db) }
    }

    func filter(_ db: Database) throws -> SQLExpression? {
        guard !filters.isEmpty else { return nil }
        return try .associative(.and, filters.map { try $0(db) })
    }

    /// - parameter stableOrdering: the columns that order rows that are otherwise equal.
    func ordering(
        _ db: Database, isReversed: Bool, _ stableOrdering: () throws -> [SQLOrdering]
    ) throws -> [SQLOrdering] {
        let terms = try orderings.flatMap { order in
            switch order {
            case .terms(let terms): try terms(db)
            case .stable: try stableOrdering()
            }
        }
        return isReversed ? terms.map(\.reversed) : terms
    }

    /// The relation for the rows that it lets through, and nothing of them.
    var unselected: SQLRelation {
        var relation = self
        relation.selection = []
        relation.prefetches = []
        relation.joins = joins.map {
            var join = $0
            join.relation = join.relation.unselected
            return join
        }
        return relation
    }

    /// Removes the order of the rows, and those of their associated rows.
    mutating func removeOrder() {
        orderings = []
        isReversed = false
        changeAssociated { $0.removeOrder() }
    }

    /// Adds the columns that identify the rows and their associated rows.
    mutating func stabilizeOrder() {
        orderings.append(.stable)
        changeAssociated { $0.stabilizeOrder() }
    }

    private mutating func changeAssociated(_ change: (inout SQLRelation) -> Void) {
        for index in joins.indices { change(&joins[index].relation) }
        for index in prefetches.indices { prefetches[index].changeRelations(change) }
    }

    /// Defines a query for the statement, in place of the one of that name.
    mutating func define(_ table: SQLCommonTable) {
        commonTables.removeAll { $0.name.foldedSQLName == table.name.foldedSQLName }
        commonTables.append(table)
    }
}
