/// A value that is computed over the associated rows.
///
/// ```swift
/// let prolific = Author.having(Author.books.count >= 20)
/// let request = Author.annotated(with: Author.books.count, Author.books.max(\.year))
/// // SELECT "author".*, COUNT(DISTINCT "book"."id") AS "bookCount", …
/// // FROM "author" LEFT JOIN "book" … GROUP BY "author"."id"
/// ```
public struct AssociationAggregate<RowDecoder> {
    typealias Expression = SQLRelation.Connected<SQLExpression>

    /// Joins the associated rows and returns the expression of the aggregate.
    let join: (inout SQLRelation) -> Expression

    /// The name of the column; nil for that of the expression.
    var key: String?

    init(key: String? = nil, join: @escaping (inout SQLRelation) -> Expression) {
        self.key = key
        self.join = join
    }

    init(
        _ association: SQLAssociation, key: String,
        _ value: @escaping @Sendable (Database, TableAliasBase) throws -> SQLExpression
    ) {
        self.init(key: key) { relation in
            let alias = TableAliasBase(aliasName: nil)
            var association = association
            association.destination.query.relation.source.aliases.append(alias)
            relation.join(association, .optional, isSelected: false)
            return { db in try value(db, alias) }
        }
    }

    /// Renames the aggregate.
    public func forKey(_ key: String) -> Self {
        AssociationAggregate(key: key, join: join)
    }

    /// Renames the aggregate to the name of a coding key.
    public func forKey(_ key: some CodingKey) -> Self {
        forKey(key.stringValue)
    }

    /// Returns another expression on the same joins.
    func map(key: String? = nil, _ transform: @escaping @Sendable (SQLExpression) -> SQLExpression) -> Self {
        AssociationAggregate(key: key) { relation in
            let expression = join(&relation)
            return { db in try transform(expression(db)) }
        }
    }

    /// Returns an expression on the joins of both.
    func combined(
        with other: Self, _ combine: @escaping @Sendable (SQLExpression, SQLExpression) -> SQLExpression
    ) -> Self {
        AssociationAggregate { relation in
            let (left, right) = (join(&relation), other.join(&relation))
            return { db in try combine(left(db), right(db)) }
        }
    }
}

extension AssociationToMany {
    private var name: String { sqlAssociation.destination.key.singularName }

    /// The number of associated rows, named `bookCount`.
    public var count: AssociationAggregate<OriginRowDecoder> {
        AssociationAggregate(sqlAssociation, key: name + "Count", rowCount)
    }

    /// A condition that no associated row exists, named `hasNoBook`.
    public var isEmpty: AssociationAggregate<OriginRowDecoder> {
        let count = rowCount
        return AssociationAggregate(sqlAssociation, key: "hasNo" + name.capitalizedFirst) { db, alias in
            try SQLExpression(node: .isZero(count(db, alias), isNegated: false))
        }
    }

    /// Returns the average, named `averageBookPrice`.
    public func average(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("AVG", expression, prefix: "average")
    }

    /// Returns the maximum, named `maxBookPrice`.
    public func max(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MAX", expression, prefix: "max")
    }

    /// Returns the minimum, named `minBookPrice`.
    public func min(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("MIN", expression, prefix: "min")
    }

    /// Returns the sum, NULL without rows, named `bookPriceSum`.
    public func sum(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("SUM", expression, suffix: "Sum")
    }

    /// Returns the sum as a real number, 0 without rows, named `bookPriceSum`.
    public func total(_ expression: some SQLSpecificExpressible) -> AssociationAggregate<OriginRowDecoder> {
        aggregate("TOTAL", expression, suffix: "Sum")
    }

    /// Rows are distinguished by their key, because joins of several tables repeat them.
    private var rowCount: @Sendable (Database, TableAliasBase) throws -> SQLExpression {
        let tableName = databaseTableName
        return { db, alias in
            let key = try db.keyOfRows(inTable: tableName)
            guard key.count == 1 else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "the rows of table \(tableName) can't be counted in a join: its key has several columns")
            }
            return Strongroom.count(distinct: alias[Column(key[0])])
        }
    }

    private func aggregate(
        _ function: String, _ expression: some SQLSpecificExpressible, prefix: String = "", suffix: String = ""
    )
        -> AssociationAggregate<OriginRowDecoder>
    {
        let expression = expression.sqlExpression
        let subject = prefix.isEmpty ? name : prefix + name.capitalizedFirst
        let key = expression.columnName.map { subject + $0.capitalizedFirst + suffix }
        var aggregate = AssociationAggregate<OriginRowDecoder>(sqlAssociation, key: "") { _, alias in
            .aggregate(function, [alias[expression]])
        }
        aggregate.key = key
        return aggregate
    }
}

extension AssociationToMany where RowDecoder: TableRecord {
    /// Returns the average: `average { $0.price }`.
    public func average(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try average(expression(RowDecoder.databaseComponents))
    }

    /// Returns the maximum: `max { $0.price }`.
    public func max(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try max(expression(RowDecoder.databaseComponents))
    }

    /// Returns the minimum: `min { $0.price }`.
    public func min(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try min(expression(RowDecoder.databaseComponents))
    }

    /// Returns the sum, NULL without rows: `sum { $0.price }`.
    public func sum(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try sum(expression(RowDecoder.databaseComponents))
    }

    /// Returns the sum as a real number, 0 without rows: `total { $0.price }`.
    public func total(
        _ expression: (DatabaseComponents) throws -> some SQLSpecificExpressible
    ) rethrows -> AssociationAggregate<OriginRowDecoder> {
        try total(expression(RowDecoder.databaseComponents))
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}

// MARK: - Requests

extension DerivableRequest {
    /// Appends aggregates to the selection. Each row is a group of its own.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> Self {
        aggregates.reduce(self) { request, aggregate in
            var request = request
            let expression = aggregate.join(&request.sqlRelation)
            let key = aggregate.key
            return request.groupByPrimaryKey().annotatedWhenConnected { db in
                let value = try expression(db)
                return [key.map { value.forKey($0) } ?? value.sqlSelection]
            }
        }
    }

    /// Appends aggregates to the selection. Each row is a group of its own.
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> Self {
        annotated(with: aggregates)
    }

    /// Adds a condition on aggregates to the request.
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> Self {
        var request = self
        let expression = predicate.join(&request.sqlRelation)
        return request.groupByPrimaryKey().havingWhenConnected { db in try expression(db) }
    }
}

extension TableRecord {
    /// Returns a request that appends aggregates to the default columns.
    public static func annotated(with aggregates: [AssociationAggregate<Self>]) -> QueryInterfaceRequest<Self> {
        all().annotated(with: aggregates)
    }

    /// Returns a request that appends aggregates to the default columns.
    public static func annotated(with aggregates: AssociationAggregate<Self>...) -> QueryInterfaceRequest<Self> {
        all().annotated(with: aggregates)
    }

    /// Returns a request for the records whose aggregates meet a condition.
    public static func having(_ predicate: AssociationAggregate<Self>) -> QueryInterfaceRequest<Self> {
        all().having(predicate)
    }
}

extension Table {
    /// Returns a request that appends aggregates to the default columns.
    public func annotated(with aggregates: [AssociationAggregate<RowDecoder>]) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: aggregates)
    }

    /// Returns a request that appends aggregates to the default columns.
    public func annotated(with aggregates: AssociationAggregate<RowDecoder>...) -> QueryInterfaceRequest<RowDecoder> {
        all().annotated(with: aggregates)
    }

    /// Returns a request for the rows whose aggregates meet a condition.
    public func having(_ predicate: AssociationAggregate<RowDecoder>) -> QueryInterfaceRequest<RowDecoder> {
        all().having(predicate)
    }
}
