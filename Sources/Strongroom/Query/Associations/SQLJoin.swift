/// A relation that is joined to another one in the same statement.
struct SQLJoin: Sendable {
    enum Kind: Sendable {
        /// Rows without a partner are left out.
        case required

        /// Rows without a partner have NULL in its place.
        case optional
    }

    /// The name of the joined row.
    let key: String
    var kind: Kind
    var condition: SQLJoinCondition
    var relation: SQLRelation

    /// Why the relation can't be joined, if it can't.
    var obstacle: String?
}

/// The condition that joins the rows of two tables.
enum SQLJoinCondition: Sendable {
    /// Columns are equal: of a table that refers and one that is referred to.
    case foreignKey(ForeignKeyLookup, leftRefers: Bool)

    /// An expression on aliases of the two tables.
    case expression(@Sendable () -> (left: TableAliasBase, right: TableAliasBase, condition: SQLExpression))

    /// No condition: each row with each row.
    case always

    /// The condition with its tables exchanged.
    var reversed: SQLJoinCondition {
        switch self {
        case .foreignKey(let lookup, let leftRefers): .foreignKey(lookup, leftRefers: !leftRefers)
        case .expression(let make):
            .expression {
                let (left, right, condition) = make()
                return (right, left, condition)
            }
        case .always: .always
        }
    }

    /// True if the condition is nothing but the equality of key columns.
    var isForeignKey: Bool {
        if case .foreignKey = self { true } else { false }
    }

    /// Returns the columns that have to be equal.
    ///
    /// - throws: `SQLITE_MISUSE` if there is no foreign key.
    func columns(_ db: Database) throws -> [(left: String, right: String)] {
        guard case .foreignKey(let lookup, let leftRefers) = self else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    an association without a foreign key can be joined, but not fetched for one record: use joining or \
                    including
                    """)
        }
        return try lookup.mapping(db).map { leftRefers ? ($0.referring, $0.referred) : ($0.referred, $0.referring) }
    }

    func isSame(as other: SQLJoinCondition) -> Bool {
        switch (self, other) {
        case (.foreignKey(let lhs, let lhsRefers), .foreignKey(let rhs, let rhsRefers)):
            lhs == rhs && lhsRefers == rhsRefers
        // Functions can't be compared, so the key decides.
        case (.expression, .expression), (.always, .always): true
        default: false
        }
    }
}

extension SQLRelation {
    /// Joins all steps of an association.
    mutating func join(_ association: SQLAssociation, _ kind: SQLJoin.Kind, isSelected: Bool) {
        var joined: SQLJoin?
        for (index, step) in association.steps.enumerated().reversed() {
            var relation = step.query.relation
            if index < association.steps.count - 1 || !isSelected { relation.selection = [] }
            if let joined { relation.add(joined) }
            joined = SQLJoin(
                key: step.key.singularName, kind: kind, condition: step.condition, relation: relation,
                obstacle: step.query.joinObstacle)
        }
        if let joined { add(joined) }
    }

    /// Joins a relation, or merges it into the one that is joined under the same key.
    mutating func add(_ join: SQLJoin, inPlace: Bool = false) {
        guard let index = joins.firstIndex(where: { $0.key == join.key && $0.condition.isSame(as: join.condition) }),
            joins[index].relation.source.tableName == join.relation.source.tableName
        else {
            return joins.append(join)
        }
        // What the program joins once more comes after all the rest.
        var merged = joins.remove(at: index)
        if join.kind == .required { merged.kind = .required }
        merged.condition = join.condition
        merged.obstacle = merged.obstacle ?? join.obstacle
        merged.relation.merge(join.relation)
        joins.insert(merged, at: inPlace ? index : joins.endIndex)
    }

    mutating func merge(_ other: SQLRelation) {
        source.aliases += other.source.aliases
        if !other.selection.isEmpty { selection = other.selection }
        filters += other.filters
        if !other.orderings.isEmpty {
            orderings = other.orderings
            isReversed = other.isReversed
        }
        for join in other.joins { add(join, inPlace: true) }
        for prefetch in other.prefetches { add(prefetch, inPlace: true) }
        for table in other.commonTables { define(table) }
    }

    mutating func add(_ prefetch: SQLPrefetch, inPlace: Bool = false) {
        var prefetch = prefetch
        sharePivots(with: &prefetch)
        guard
            let index = prefetches.firstIndex(where: { $0.key == prefetch.key && $0.pivotKeys == prefetch.pivotKeys })
        else {
            return prefetches.append(prefetch)
        }
        let former = prefetches.remove(at: index)
        prefetches.insert(former.merged(with: prefetch) ?? prefetch, at: inPlace ? index : prefetches.endIndex)
    }

    /// Makes tables one that stand between here and what is fetched, where they have the same key on the same way:
    /// conditions on one are conditions on the other.
    private mutating func sharePivots(with prefetch: inout SQLPrefetch) {
        for step in prefetch.pivotKeys.indices {
            let sharing = prefetches.indices.filter {
                prefetches[$0].association.sharesSteps(with: prefetch.association, to: step)
            }
            guard let first = sharing.first else { return }
            var shared = prefetches[first].association.steps[step].query.relation
            shared.merge(prefetch.association.steps[step].query.relation)
            prefetch.setPivot(shared, at: step)
            for index in sharing { prefetches[index].setPivot(shared, at: step) }
        }
    }
}

extension SQLQuery {
    /// Why the query can't be a part of another one's joins, if it can't.
    var joinObstacle: String? {
        if isDistinct { return "distinct()" }
        if grouping != nil || !having.isEmpty { return "groups" }
        return nil
    }
}
