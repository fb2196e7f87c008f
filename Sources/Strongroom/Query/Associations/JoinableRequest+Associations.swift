extension JoinableRequest {
    private func with(_ change: (inout SQLRelation) -> Void) -> Self {
        var request = self
        change(&request.sqlRelation)
        return request
    }

    /// The same request with all rows that belong to each row, which a further statement fetches.
    ///
    /// ```swift
    /// struct AuthorInfo: Decodable, FetchableRecord {
    ///     var author: Author
    ///     var books: [Book]
    /// }
    /// let infos = try Author.including(all: Author.books).asRequest(of: AuthorInfo.self).fetchAll(db)
    /// ```
    public func including<A: AssociationToMany>(all association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.add(SQLPrefetch(association: association.sqlAssociation)) }
    }

    /// The same request with the row that belongs to each row, if there is one.
    public func including<A: Association>(optional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .optional, isSelected: true) }
    }

    /// The same request with the row that belongs to each row, for those that have one.
    public func including<A: Association>(required association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .required, isSelected: true) }
    }

    /// The same request joined with what belongs to each row, if anything, for conditions and orders.
    public func joining<A: Association>(optional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .optional, isSelected: false) }
    }

    /// The same request for the rows to which something belongs.
    public func joining<A: Association>(required association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .required, isSelected: false) }
    }

    /// The same request with the columns of what belongs to each row, if anything, beside its own.
    public func annotated<A: Association>(withOptional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        annotated(with: association.sqlAssociation, .optional)
    }

    /// The same request with the columns of what belongs to each row beside its own, for those that have it.
    public func annotated<A: Association>(withRequired association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        annotated(with: association.sqlAssociation, .required)
    }

    private func annotated(with association: SQLAssociation, _ kind: SQLJoin.Kind) -> Self {
        let alias = TableAliasBase(aliasName: nil)
        let selection = association.destination.query.relation.selection
        var association = association
        association.destination.query.relation.source.aliases.append(alias)
        return with {
            $0.join(association, kind, isSelected: false)
            $0.selection.append { db in try selection.flatMap { try $0(db) }.map { alias[any: $0] } }
        }
    }
}

extension TableRecord {
    // MARK: - Joins

    /// A request with all records that belong to each record, which a further statement fetches.
    public static func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().including(all: association)
    }

    /// A request with the record that belongs to each record, if there is one.
    public static func including<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().including(optional: association)
    }

    /// A request with the record that belongs to each record, for those that have one.
    public static func including<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().including(required: association)
    }

    /// A request joined with what belongs to each record, if anything, for conditions and orders.
    public static func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().joining(optional: association)
    }

    /// A request for the records to which something belongs.
    public static func joining<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().joining(required: association)
    }

    /// A request with the columns of what belongs to each record, if anything, beside its own.
    public static func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().annotated(withOptional: association)
    }

    /// A request with the columns of what belongs to each record beside its own, for those that have it.
    public static func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<Self>
        where A.OriginRowDecoder == Self
    {
        all().annotated(withRequired: association)
    }
}

extension Table {
    // MARK: - Joins

    /// A request with all rows that belong to each row, which a further statement fetches.
    public func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().including(all: association)
    }

    /// A request with the row that belongs to each row, if there is one.
    public func including<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().including(optional: association)
    }

    /// A request with the row that belongs to each row, for those that have one.
    public func including<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().including(required: association)
    }

    /// A request joined with what belongs to each row, if anything, for conditions and orders.
    public func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().joining(optional: association)
    }

    /// A request for the rows to which something belongs.
    public func joining<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().joining(required: association)
    }

    /// A request with the columns of what belongs to each row, if anything, beside its own.
    public func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().annotated(withOptional: association)
    }

    /// A request with the columns of what belongs to each row beside its own, for those that have it.
    public func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<RowDecoder>
        where A.OriginRowDecoder == RowDecoder
    {
        all().annotated(withRequired: association)
    }
}
