extension SQLAssociation {
    /// Returns the association by a foreign key.
    ///
    /// - parameter originRefers: true if the origin refers to the destination, false for the other direction.
    static func direct(
        from origin: String, to destination: QueryInterfaceRequest<some Any>, originRefers: Bool, isToMany: Bool,
        key: String?, using foreignKey: ForeignKey?
    ) -> SQLAssociation {
        let name = destination.databaseTableName
        let lookup = ForeignKeyLookup(
            referringTable: originRefers ? origin : name, referredTable: originRefers ? name : origin,
            foreignKey: foreignKey)
        return SQLAssociation(
            key: key.map { .given($0, isPlural: isToMany) } ?? .table(name),
            condition: .foreignKey(lookup, leftRefers: originRefers), query: destination.query, isToMany: isToMany)
    }
}

extension Table {
    // MARK: - Associations

    /// Returns the association in which each row of this table refers to one of `destination`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - key: the name of the association; nil for the name of the table in singular.
    ///   - foreignKey: the foreign key; nil for the only one in the schema.
    public func belongsTo<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> BelongsToAssociation<RowDecoder, Destination>
    {
        BelongsToAssociation(
            sqlAssociation: .direct(
                from: tableName, to: destination.all(), originRefers: true, isToMany: false, key: key, using: foreignKey
            ))
    }

    /// Returns the association in which each row of this table refers to one of `destination`.
    public func belongsTo<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> BelongsToAssociation<RowDecoder, Destination>
    {
        BelongsToAssociation(
            sqlAssociation: .direct(
                from: tableName, to: destination.all(), originRefers: true, isToMany: false, key: key, using: foreignKey
            ))
    }

    /// Returns the association with the one row of `destination`, if any, that refers to each row of this table.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - key: the name of the association; nil for the name of the table in singular.
    ///   - foreignKey: the foreign key; nil for the only one in the schema.
    public func hasOne<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasOneAssociation<RowDecoder, Destination>
    {
        HasOneAssociation(
            sqlAssociation: .direct(
                from: tableName, to: destination.all(), originRefers: false, isToMany: false, key: key,
                using: foreignKey))
    }

    /// Returns the association with the one row of `destination`, if any, that refers to each row of this table.
    public func hasOne<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasOneAssociation<RowDecoder, Destination>
    {
        HasOneAssociation(
            sqlAssociation: .direct(
                from: tableName, to: destination.all(), originRefers: false, isToMany: false, key: key,
                using: foreignKey))
    }

    /// Returns the association in which any number of rows of `destination` refer to each row of this table.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - key: the name of the association in plural; nil for the name of the table.
    ///   - foreignKey: the foreign key; nil for the only one in the schema.
    public func hasMany<Destination: TableRecord>(
        _ destination: Destination.Type, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasManyAssociation<RowDecoder, Destination>
    {
        HasManyAssociation(
            sqlAssociation: .direct(
                from: tableName, to: destination.all(), originRefers: false, isToMany: true, key: key, using: foreignKey
            ))
    }

    /// Returns the association in which any number of rows of `destination` refer to each row of this table.
    public func hasMany<Destination>(
        _ destination: Table<Destination>, key: String? = nil, using foreignKey: ForeignKey? = nil
    )
        -> HasManyAssociation<RowDecoder, Destination>
    {
        HasManyAssociation(
            sqlAssociation: .direct(
                from: tableName, to: destination.all(), originRefers: false, isToMany: true, key: key, using: foreignKey
            ))
    }

    /// Returns the association that follows `pivot`, then `target`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - pivot: the association to the intermediate table.
    ///   - target: the association from the intermediate table to the destination.
    ///   - key: the name of the association in plural; nil for that of `target`.
    public func hasMany<Pivot: Association, Target: Association>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    )
        -> HasManyThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasManyThroughAssociation(
            sqlAssociation: SQLAssociation(
                through: pivot.sqlAssociation, using: target.sqlAssociation, key: key, isToMany: true))
    }

    /// Returns the association that follows `pivot`, then `target`.
    ///
    /// - parameters:
    ///   - destination: the record type of the association.
    ///   - pivot: the association to the intermediate table.
    ///   - target: the association from the intermediate table to the destination.
    ///   - key: the name of the association; nil for that of `target`.
    public func hasOne<Pivot: AssociationToOne, Target: AssociationToOne>(
        _ destination: Target.RowDecoder.Type, through pivot: Pivot, using target: Target, key: String? = nil
    )
        -> HasOneThroughAssociation<RowDecoder, Target.RowDecoder>
    where Pivot.OriginRowDecoder == RowDecoder, Pivot.RowDecoder == Target.OriginRowDecoder {
        HasOneThroughAssociation(
            sqlAssociation: SQLAssociation(
                through: pivot.sqlAssociation, using: target.sqlAssociation, key: key, isToMany: false))
    }

    /// Returns the association of each row with all rows of a common table.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(cte.all(), .always)
    }

    /// Returns the association of each row with the rows of a common table that meet a condition: `association(to: cte)
    /// { $0.id == $1["id"] }`.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition: @escaping @Sendable (TableAlias<RowDecoder>, TableAlias<Destination>) -> any SQLExpressible
    )
        -> JoinAssociation<RowDecoder, Destination>
    {
        JoinAssociation(cte.all(), on: condition)
    }
}

extension CommonTableExpression {
    /// Returns the association of each row with all rows of a common table.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(cte.all(), .always)
    }

    /// Returns the association of each row with the rows of a common table that meet a condition.
    public func association<Destination>(
        to cte: CommonTableExpression<Destination>,
        on condition: @escaping @Sendable (TableAlias<RowDecoder>, TableAlias<Destination>) -> any SQLExpressible
    )
        -> JoinAssociation<RowDecoder, Destination>
    {
        JoinAssociation(cte.all(), on: condition)
    }

    /// Returns the association of each row with all rows of a table.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(destination.all(), .always)
    }

    /// Returns the association of each row with the rows of a table that meet a condition.
    public func association<Destination: TableRecord>(
        to destination: Destination.Type,
        on condition: @escaping @Sendable (TableAlias<RowDecoder>, TableAlias<Destination>) -> any SQLExpressible
    )
        -> JoinAssociation<RowDecoder, Destination>
    {
        JoinAssociation(destination.all(), on: condition)
    }

    /// Returns the association of each row with all rows of a table.
    public func association<Destination>(
        to destination: Table<Destination>
    ) -> JoinAssociation<RowDecoder, Destination> {
        JoinAssociation(destination.all(), .always)
    }

    /// Returns the association of each row with the rows of a table that meet a condition.
    public func association<Destination>(
        to destination: Table<Destination>,
        on condition: @escaping @Sendable (TableAlias<RowDecoder>, TableAlias<Destination>) -> any SQLExpressible
    )
        -> JoinAssociation<RowDecoder, Destination>
    {
        JoinAssociation(destination.all(), on: condition)
    }
}
