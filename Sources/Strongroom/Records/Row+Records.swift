// Records out of scopes, and collections of records out of prefetched rows. Subscripts stop the program where `decode`
// throws.

extension Row {
    // MARK: - One record

    /// Returns the record of the nearest scope with this name in ``scopesTree``.
    ///
    /// - throws: ``RowDecodingError`` when there is no such scope, or when all its values are NULL; the record's own
    ///   errors.
    public func decode<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record {
        guard let row = scopesTree[scope] else {
            throw missing("scope", scope, "scopes", available: scopesTree.names)
        }
        guard row.containsNonNullValue else {
            throw RowDecodingError(missing: "scope \(scope.debugDescription) only contains null values", in: self)
        }
        return try Record(row: row)
    }

    /// Returns the record of a scope; nil if there is no such scope, or if all its values are NULL.
    public func decodeIfPresent<Record: FetchableRecord>(
        _ type: Record.Type = Record.self, forKey scope: String
    ) throws -> Record? {
        guard let row = scopesTree[scope], row.containsNonNullValue else { return nil }
        return try Record(row: row)
    }

    /// The record of a scope. It is a fatal error if there is no such scope, or if all its values are NULL.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record {
        orFatalError { try decode(Record.self, forKey: scope) }
    }

    /// The record of a scope; nil if there is no such scope, or if all its values are NULL.
    public subscript<Record: FetchableRecord>(_ scope: String) -> Record? {
        orFatalError { try decodeIfPresent(Record.self, forKey: scope) }
    }

    // MARK: - Collections of records

    /// Returns the records of the prefetched rows with this key.
    ///
    /// - throws: ``RowDecodingError`` if no such rows were prefetched; the errors of the records.
    public func decode<Collection>(_ type: Collection.Type = Collection.self, forKey key: String) throws -> Collection
    where Collection: RangeReplaceableCollection, Collection.Element: FetchableRecord {
        let rows = try prefetchedRows(forKey: key)
        var records = Collection()
        records.reserveCapacity(rows.count)
        for row in rows { records.append(try Collection.Element(row: row)) }
        return records
    }

    /// Returns the distinct records of the prefetched rows with this key.
    ///
    /// - throws: ``RowDecodingError`` if no such rows were prefetched; the errors of the records.
    public func decode<Record: FetchableRecord & Hashable>(
        _ type: Set<Record>.Type = Set<Record>.self, forKey key: String
    ) throws -> Set<Record> {
        try Set(prefetchedRows(forKey: key).map { try Record(row: $0) })
    }

    /// The records of the prefetched rows with this key. It is a fatal error if no such rows were prefetched.
    public subscript<Records: RangeReplaceableCollection>(
        _ key: String
    ) -> Records where Records.Element: FetchableRecord {
        orFatalError { try decode(Records.self, forKey: key) }
    }

    /// The distinct records of the prefetched rows with this key. It is a fatal error if no such rows were prefetched.
    public subscript<Record: FetchableRecord & Hashable>(_ key: String) -> Set<Record> {
        orFatalError { try decode(Set<Record>.self, forKey: key) }
    }

    private func prefetchedRows(forKey key: String) throws -> [Row] {
        guard let rows = prefetchedRows[key] else {
            throw missing("key for prefetched rows", key, "keys", available: prefetchedRows.keys)
        }
        return rows
    }

    private func missing(_ reason: String, _ key: String, _ kind: String, available: Set<String>) -> RowDecodingError {
        let keys = available.sorted().map(\.debugDescription).joined(separator: ", ")
        return RowDecodingError(
            missing: "\(reason) not found: \(key.debugDescription)"
                + (keys.isEmpty ? "" : " - available \(kind): [\(keys)]"), in: self)
    }
}
