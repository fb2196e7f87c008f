/// A relation from one record type to another, as a request that can be joined with others.
///
/// ```swift
/// struct Book: TableRecord {
///     static let author = belongsTo(Author.self)
/// }
///
/// let request = Book.including(required: Book.author.filter { $0.country == "FR" })
/// // SELECT "book".*, "author".* FROM "book" JOIN "author" ON ("author"."id" = "book"."authorId") AND …
/// ```
public protocol Association: DerivableRequest, Sendable {
    /// The record type on the left side of the association.
    associatedtype OriginRowDecoder

    /// The association without its types.
    var sqlAssociation: SQLAssociation { get set }
}

/// An association that leads to one row at most.
public protocol AssociationToOne: Association {}

/// An association that leads to any number of rows.
public protocol AssociationToMany: Association {}

extension Association {
    /// Renames the association. Scopes, prefetched rows and aggregates have this name.
    public func forKey(_ key: String) -> Self {
        let isPlural = sqlAssociation.isToMany
        return with { $0.key = .given(key, isPlural: isPlural) }
    }

    /// Renames the association to the name of a coding key.
    public func forKey(_ codingKey: some CodingKey) -> Self {
        forKey(codingKey.stringValue)
    }

    private func with(_ change: (inout SQLAssociation.Step) -> Void) -> Self {
        var association = self
        change(&association.sqlAssociation.destination)
        return association
    }

    private func withRequest(
        _ change: (QueryInterfaceRequest<RowDecoder>) -> QueryInterfaceRequest<RowDecoder>
    ) -> Self {
        with { $0.query = change(QueryInterfaceRequest($0.query)).query }
    }

    // MARK: - What is read at the end

    /// The tables, conditions and order that the request reads.
    public var sqlRelation: SQLRelation {
        get { sqlAssociation.destination.query.relation }
        set { sqlAssociation.destination.query.relation = newValue }
    }

    /// The name of the table.
    public var databaseTableName: String { sqlRelation.source.tableName }

    /// Gives the table an alias.
    public func _aliased(_ alias: TableAliasBase) -> Self { withRequest { $0._aliased(alias) } }

    /// Replaces the selection with one that depends on the connection.
    public func selectWhenConnected(_ selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]) -> Self {
        withRequest { $0.selectWhenConnected(selection) }
    }

    /// Appends to the selection expressions that depend on the connection.
    public func annotatedWhenConnected(
        with selection: @escaping @Sendable (Database) throws -> [any SQLSelectable]
    ) -> Self {
        withRequest { $0.annotatedWhenConnected(with: selection) }
    }

    /// Adds a condition that depends on the connection.
    public func filterWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self {
        withRequest { $0.filterWhenConnected(predicate) }
    }

    /// Replaces the order with one that depends on the connection.
    public func orderWhenConnected(
        _ orderings: @escaping @Sendable (Database) throws -> [any SQLOrderingTerm]
    ) -> Self {
        withRequest { $0.orderWhenConnected(orderings) }
    }

    /// Reverses the order. An absent order stays absent.
    public func reversed() -> Self { withRequest { $0.reversed() } }

    /// Removes the order.
    public func unordered() -> Self { withRequest { $0.unordered() } }

    /// Appends the primary key to the order, so that it is the same at each run.
    public func withStableOrder() -> Self { withRequest { $0.withStableOrder() } }

    /// Replaces the grouping with one that depends on the connection.
    public func groupWhenConnected(
        _ expressions: @escaping @Sendable (Database) throws -> [any SQLExpressible]
    ) -> Self {
        withRequest { $0.groupWhenConnected(expressions) }
    }

    /// Adds a condition on groups that depends on the connection.
    public func havingWhenConnected(_ predicate: @escaping @Sendable (Database) throws -> any SQLExpressible) -> Self {
        withRequest { $0.havingWhenConnected(predicate) }
    }

    /// Leaves out duplicate rows.
    public func distinct() -> Self { withRequest { $0.distinct() } }
}

// MARK: - The associations

/// An association in which rows of the origin refer to rows of the destination: `Book` to `Author`.
public struct BelongsToAssociation<Origin, Destination>: AssociationToOne {
    /// The record type on the left side of the association.
    public typealias OriginRowDecoder = Origin
    /// The record type on the right side of the association.
    public typealias RowDecoder = Destination

    /// The association without its types.
    public var sqlAssociation: SQLAssociation
}

/// An association in which at most one row of the destination refers to each row of the origin.
public struct HasOneAssociation<Origin, Destination>: AssociationToOne {
    /// The record type on the left side of the association.
    public typealias OriginRowDecoder = Origin
    /// The record type on the right side of the association.
    public typealias RowDecoder = Destination

    /// The association without its types.
    public var sqlAssociation: SQLAssociation
}

/// An association in which rows of the destination refer to rows of the origin: an `Author` has many of `Book`.
public struct HasManyAssociation<Origin, Destination>: AssociationToMany {
    /// The record type on the left side of the association.
    public typealias OriginRowDecoder = Origin
    /// The record type on the right side of the association.
    public typealias RowDecoder = Destination

    /// The association without its types.
    public var sqlAssociation: SQLAssociation
}

/// An association to at most one row of the destination, through another table.
public struct HasOneThroughAssociation<Origin, Destination>: AssociationToOne {
    /// The record type on the left side of the association.
    public typealias OriginRowDecoder = Origin
    /// The record type on the right side of the association.
    public typealias RowDecoder = Destination

    /// The association without its types.
    public var sqlAssociation: SQLAssociation
}

/// An association to any number of rows of the destination, through another table.
public struct HasManyThroughAssociation<Origin, Destination>: AssociationToMany {
    /// The record type on the left side of the association.
    public typealias OriginRowDecoder = Origin
    /// The record type on the right side of the association.
    public typealias RowDecoder = Destination

    /// The association without its types.
    public var sqlAssociation: SQLAssociation
}

/// An association by a condition, without a foreign key. See ``CommonTableExpression``.
public struct JoinAssociation<Origin, Destination>: AssociationToOne {
    /// The record type on the left side of the association.
    public typealias OriginRowDecoder = Origin
    /// The record type on the right side of the association.
    public typealias RowDecoder = Destination

    /// The association without its types.
    public var sqlAssociation: SQLAssociation

    init(_ destination: QueryInterfaceRequest<Destination>, _ condition: SQLJoinCondition) {
        sqlAssociation = SQLAssociation(
            key: .table(destination.databaseTableName), condition: condition, query: destination.query, isToMany: false)
    }

    init(
        _ destination: QueryInterfaceRequest<Destination>,
        on condition: @escaping @Sendable (TableAlias<Origin>, TableAlias<Destination>) -> any SQLExpressible
    ) {
        self.init(
            destination,
            .expression {
                let (left, right) = (TableAlias<Origin>(), TableAlias<Destination>())
                return (left, right, condition(left, right).sqlExpression)
            })
    }
}
