extension JoinableRequest {
    private func with(_ change: (inout SQLRelation) -> Void) -> Self {
        var request = self
        change(&request.sqlRelation)
        return request
    }

    /// Fetches all associated rows of each row, with a further statement.
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

    /// Fetches the associated row of each row, if there is one.
    public func including<A: Association>(optional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .optional, isSelected: true) }
    }

    /// Fetches the associated row of each row, and leaves out rows without one.
    public func including<A: Association>(required association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .required, isSelected: true) }
    }

    /// Joins the associated rows, if there are any, for conditions and orders.
    public func joining<A: Association>(optional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .optional, isSelected: false) }
    }

    /// Joins the associated rows, and leaves out rows without one.
    public func joining<A: Association>(required association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        with { $0.join(association.sqlAssociation, .required, isSelected: false) }
    }

    /// Appends the columns of the associated row, NULL if there is none.
    public func annotated<A: Association>(withOptional association: A) -> Self where A.OriginRowDecoder == RowDecoder {
        annotated(with: association.sqlAssociation, .optional)
    }

    /// Appends the columns of the associated row, and leaves out rows without one.
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

    /// Returns a request that fetches all associated rows of each record, with a further statement.
    public static func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(all: association)
    }

    /// Returns a request that fetches the associated row of each record, if there is one.
    public static func including<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(optional: association)
    }

    /// Returns a request that fetches the associated row of each record, and leaves out records without one.
    public static func including<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().including(required: association)
    }

    /// Returns a request that joins the associated rows of each record, if there are any, for conditions and orders.
    public static func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(optional: association)
    }

    /// Returns a request for the records with an associated row.
    public static func joining<A: Association>(required association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().joining(required: association)
    }

    /// Returns a request that appends the columns of the associated row of each record, NULL if there is none.
    public static func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().annotated(withOptional: association)
    }

    /// Returns a request that appends the columns of the associated row, and leaves out records without one.
    public static func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<Self>
    where A.OriginRowDecoder == Self {
        all().annotated(withRequired: association)
    }
}

extension Table {
    // MARK: - Joins

    /// Returns a request that fetches all associated rows of each row, with a further statement.
    public func including<A: AssociationToMany>(all association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(all: association)
    }

    /// Returns a request that fetches the associated row of each row, if there is one.
    public func including<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(optional: association)
    }

    /// Returns a request that fetches the associated row of each row, and leaves out rows without one.
    public func including<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().including(required: association)
    }

    /// Returns a request that joins the associated rows of each row, if there are any, for conditions and orders.
    public func joining<A: Association>(optional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().joining(optional: association)
    }

    /// Returns a request for the rows with an associated row.
    public func joining<A: Association>(required association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().joining(required: association)
    }

    /// Returns a request that appends the columns of the associated row of each row, NULL if there is none.
    public func annotated<A: Association>(withOptional association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().annotated(withOptional: association)
    }

    /// Returns a request that appends the columns of the associated row, and leaves out rows without one.
    public func annotated<A: Association>(withRequired association: A) -> QueryInterfaceRequest<RowDecoder>
    where A.OriginRowDecoder == RowDecoder {
        all().annotated(withRequired: association)
    }
}
