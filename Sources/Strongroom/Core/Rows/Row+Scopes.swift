extension Row {
    /// The further rows that ``ScopeAdapter`` has added to this one, by name.
    ///
    /// ```swift
    /// row.scopes["team"] // Row?
    /// ```
    public var scopes: ScopesView {
        ScopesView(row: self, layouts: layout?.scopes ?? [:])
    }

    /// The further rows of this row, and theirs, at any depth.
    public var scopesTree: ScopesTreeView {
        ScopesTreeView(row: self)
    }

    /// The row as the statement returns it, before any adapter.
    public var unadapted: Row {
        guard let layout else { return self }
        return row(layout.unadapted, layout: nil)
    }

    /// The row without scopes and prefetched rows.
    public var unscoped: Row {
        if let layout, !layout.scopes.isEmpty { return row(columns, layout: layout.replacingScopes([:])) }
        return prefetchedRows.isEmpty ? self : row(columns, layout: layout)
    }

    /// The further rows of a row, as pairs of name and row.
    public struct ScopesView: Collection {
        /// The position of a row.
        public typealias Index = Dictionary<String, RowLayout>.Index

        let row: Row
        let layouts: [String: RowLayout]

        /// The names.
        public var names: Dictionary<String, RowLayout>.Keys { layouts.keys }

        /// The position of the first row.
        public var startIndex: Index { layouts.startIndex }
        /// The position after the last row.
        public var endIndex: Index { layouts.endIndex }
        /// Returns the position after another one.
        public func index(after i: Index) -> Index { layouts.index(after: i) }

        /// The name and the row at a position.
        public subscript(position: Index) -> (name: String, row: Row) {
            let name = layouts[position].key
            // The layouts are those of the row.
            return (name, row.scope(name)!)
        }

        /// The row with a name. Nil if there is none.
        public subscript(name: String) -> Row? { row.scope(name) }
    }

    /// The further rows of a row, and theirs.
    public struct ScopesTreeView {
        let row: Row

        /// The names of all scopes.
        public var names: Set<String> { Set((row.layout?.paths ?? [:]).keys) }

        /// The row with a name. If several rows have it, the nearest one.
        public subscript(name: String) -> Row? {
            guard let path = row.layout?.paths[name] else { return nil }
            return path.reduce(row) { $0?.scope($1) }
        }
    }

    /// The prefetched rows of a row and of its scopes.
    public struct PrefetchedRowsView: Equatable {
        /// The rows of the row itself, by key.
        var rows: [String: [Row]] = [:]

        /// The prefetched rows of its scopes, by name.
        var nested: [String: PrefetchedRowsView] = [:]

        /// A Boolean value that indicates whether no rows were prefetched.
        public var isEmpty: Bool { rows.isEmpty && nested.values.allSatisfy(\.isEmpty) }

        /// The keys of all prefetched rows.
        public var keys: Set<String> {
            nested.values.reduce(into: Set(rows.keys)) { $0.formUnion($1.keys) }
        }

        /// The rows with a key. Empty if the query found none, and nil if they were not prefetched.
        ///
        /// If a key occurs several times, the rows nearest to the row are returned.
        public subscript(key: String) -> [Row]? {
            var level = [self]
            while !level.isEmpty {
                if let found = level.lazy.compactMap({ $0.rows[key] }).first { return found }
                level = level.flatMap { view in view.nested.sorted { $0.key < $1.key }.map(\.value) }
            }
            return nil
        }

        /// Adds rows to the row itself, or to the scope at `path`.
        mutating func insert(_ rows: [Row], forKey key: String, at path: some Collection<String>) {
            if let name = path.first {
                nested[name, default: PrefetchedRowsView()].insert(rows, forKey: key, at: path.dropFirst())
            } else {
                self.rows[key] = rows
            }
        }
    }
}
