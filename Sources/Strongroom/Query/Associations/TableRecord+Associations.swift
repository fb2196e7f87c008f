// Each function calls the one of the same name on the table of the record type.

extension TableRecord {
    private static var table: Table<Self> { Table(databaseTableName) }

    // MARK: - Associations

    /// Returns the association in which each record refers to one of `destination`: `Book.belongsTo(Author.self)`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - key: the name of the association; nil for the name of the table in singular.
    ///   - foreignKey: the foreign key; nil for the only one in the schema.
    public static func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> BelongsToAssociation<Self, Destination>
    {
        table.belongsTo(destination, key: key, using: foreignKey)
    }

    /// Returns the association in which each record refers to a row of `destination`.
    public static func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> BelongsToAssociation<Self, Destination>
    {
        table.belongsTo(destination, key: key, using: foreignKey)
    }

    /// Returns the association with the one record of `destination`, if any, that refers to each record:
    /// `Author.hasOne(Biography.self)`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - key: the name of the association; nil for the name of the table in singular.
    ///   - foreignKey: the foreign key; nil for the only one in the schema.
    public static func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasOneAssociation<Self, Destination>
    {
        table.hasOne(destination, key: key, using: foreignKey)
    }

    /// Returns the association with the one row of `destination`, if any, that refers to each record.
    public static func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasOneAssociation<Self, Destination>
    {
        table.hasOne(destination, key: key, using: foreignKey)
    }

    /// Returns the association in which any number of records of `destination` refer to each record:
    /// `Author.hasMany(Book.self)`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - key: the name of the association in plural; nil for the name of the table.
    ///   - foreignKey: the foreign key; nil for the only one in the schema.
    public static func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasManyAssociation<Self, Destination>
    {
        table.hasMany(destination, key: key, using: foreignKey)
    }

    /// Returns the association in which any number of rows of `destination` refer to each record.
    public static func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasManyAssociation<Self, Destination>
    {
        table.hasMany(destination, key: key, using: foreignKey)
    }

    /// Returns the association that follows `pivot`, then `target`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - pivot: the association to the intermediate table.
    ///   - target: the association from the intermediate table to the destination.
    ///   - key: the name of the association in plural; nil for that of `target`.
    public static func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    )
        -> HasManyThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        table.hasMany(destination, through: pivot, using: target, key: key)
    }

    /// Returns the association that follows `pivot`, then `target`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - pivot: the association to the intermediate table.
    ///   - target: the association from the intermediate table to the destination.
    ///   - key: the name of the association; nil for that of `target`.
    public static func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    )
        -> HasOneThroughAssociation<Self, Target.RowDecoder>
    where Pivot.OriginRowDecoder == Self, Pivot.RowDecoder == Target.OriginRowDecoder {
        table.hasOne(destination, through: pivot, using: target, key: key)
    }

    /// Returns the association of each record with all rows of a common table.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<Self, Destination> {
        table.association(to: cte)
    }

    /// Returns the association of each row with the rows of a common table that meet a condition.
    public static func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition: @escaping @Sendable (TableAlias<Self>, TableAlias<Destination>) -> any SQLExpressible
    )
        -> JoinAssociation<Self, Destination>
    {
        table.association(to: cte, on: condition)
    }
}

extension TableRecord where Self: EncodableRecord {
    /// Returns a request for the associated rows of this record: `try author.request(for:
    /// Author.books).fetchAll(db)`.
    ///
    /// The request has no row for a record whose key is NULL or unknown. Fetching throws if the record can't be
    /// encoded.
    public func request<A: Association>(for association: A) -> QueryInterfaceRequest<A.RowDecoder>
    where A.OriginRowDecoder == Self {
        let record = Result { try databaseDictionary }
        return QueryInterfaceRequest(
            association.sqlAssociation.query { _, columns in
                let values = try record.get()
                let key = columns.map { columns in
                    let value = values.first { $0.key.foldedSQLName == columns.left.foldedSQLName }?.value
                    return (column: columns.right, value: value ?? .null)
                }
                return key.contains(where: \.value.isNull) ? .value(false.databaseValue) : .matching([key])
            })
    }
}
