/// An association without its types: one or several steps from one table to another.
public struct SQLAssociation: Sendable {
    struct Step: Sendable {
        var key: AssociationKey
        let isToMany: Bool
        var condition: SQLJoinCondition

        /// The query on the table that the step leads to.
        var query: SQLQuery

        var keyName: String { isToMany ? key.pluralName : key.singularName }

        /// Returns true if both lead to the same table by the same condition.
        func hasSameSteps(as other: Step) -> Bool {
            condition.isSame(as: other.condition)
                && query.relation.source.tableName == other.query.relation.source.tableName
        }
    }

    /// One step at least.
    private(set) var steps: [Step]

    /// True if the association leads to any number of rows.
    let isToMany: Bool

    init(key: AssociationKey, condition: SQLJoinCondition, query: SQLQuery, isToMany: Bool) {
        steps = [Step(key: key, isToMany: isToMany, condition: condition, query: query)]
        self.isToMany = isToMany
    }

    /// Creates the association that leads through the table of `pivot`.
    init(through pivot: SQLAssociation, using target: SQLAssociation, key: String?, isToMany: Bool) {
        steps = pivot.steps + target.steps
        self.isToMany = isToMany
        if let key { destination.key = .given(key, isPlural: isToMany) }
    }

    /// Returns true if both associations lead to the same table in the same steps.
    func hasSameSteps(as other: SQLAssociation) -> Bool {
        steps.count == other.steps.count && zip(steps, other.steps).allSatisfy { $0.hasSameSteps(as: $1) }
    }

    /// Returns true if both associations have the same steps and keys up to a step that is the last one of neither.
    func sharesSteps(with other: SQLAssociation, to step: Int) -> Bool {
        step < min(steps.count, other.steps.count) - 1
            && zip(steps, other.steps).prefix(step + 1).allSatisfy {
                $0.keyName == $1.keyName && $0.hasSameSteps(as: $1)
            }
    }

    /// Returns the association that begins at the origin of the joins.
    func behind(_ joins: [SQLJoin]) -> SQLAssociation {
        var association = self
        association.steps.insert(
            contentsOf: joins.map { join in
                var query = SQLQuery(tableName: join.relation.source.tableName, selection: [])
                query.relation = join.relation
                query.relation.joins = []
                query.relation.prefetches = []
                return Step(
                    key: .given(join.key, isPlural: false), isToMany: false, condition: join.condition,
                    query: query)
            }, at: 0)
        return association
    }

    /// The last step.
    var destination: Step {
        get { steps[steps.count - 1] }
        set { steps[steps.count - 1] = newValue }
    }

    mutating func setRelation(_ relation: SQLRelation, at step: Int) {
        steps[step].query.relation = relation
    }

    mutating func changeRelations(_ change: (inout SQLRelation) -> Void) {
        for index in steps.indices { change(&steps[index].query.relation) }
    }

    /// The name of the rows that are fetched for another one.
    var prefetchKey: String { isToMany ? destination.key.pluralName : destination.key.singularName }

    // MARK: - The way back

    /// A condition on the columns of the first step's table, which belong to those of the origin.
    typealias Belonging = @Sendable (Database, [(left: String, right: String)]) throws -> SQLExpression

    /// Returns the query for the rows of the destination that belong to some rows of the origin.
    ///
    /// - parameter isGrouped: whether the columns that say to which ones are selected as well.
    func query(selectingOrigins isGrouped: Bool = false, _ belonging: @escaping Belonging) -> SQLQuery {
        let condition = steps[0].condition
        let pivot = TableAliasBase(aliasName: nil)
        var query = destination.query
        var relation = steps[0].query.relation
        relation.source.aliases.append(pivot)
        relation.filters.append { db in try belonging(db, condition.columns(db)) }
        for (former, step) in zip(steps, steps.dropFirst()) {
            var next = step.query.relation
            next.joins.append(
                SQLJoin(
                    key: "strongroom_origin", kind: .required, condition: step.condition.reversed,
                    relation: relation.unselected, obstacle: former.query.joinObstacle))
            relation = next
        }
        query.relation = relation
        if isGrouped {
            query.relation.selection.append { db in
                try condition.columns(db).map { columns in
                    let column = pivot[Column(columns.right)]
                    return column.forKey(Self.originColumn(columns.right))
                }
            }
        }
        return query
    }

    /// Returns the name under which the column is selected that says to which row of the origin a row belongs.
    ///
    /// GRDB's: the column is seen in the rows that ``Row/prefetchedRows`` has.
    static func originColumn(_ column: String) -> String { "grdb_" + column }
}

/// The name of what an association leads to: of one row, and of several.
enum AssociationKey: Sendable {
    /// The name of a table.
    case table(String)

    /// A name in singular or plural.
    case given(String, isPlural: Bool)

    var singularName: String {
        switch self {
        case .table(let name), .given(let name, isPlural: true): Inflections.default.singularize(name)
        case .given(let name, isPlural: false): name
        }
    }

    var pluralName: String {
        switch self {
        case .table(let name), .given(let name, isPlural: false): Inflections.default.pluralize(name)
        case .given(let name, isPlural: true): name
        }
    }
}
