extension Row {
    /// The rows that hang on this one by name, made by ``ScopeAdapter``.
    ///
    /// ```swift
    /// row.scopes["team"] // Row?
    /// ```
    public var scopes: ScopesView {
        ScopesView(row: self, layouts: layout?.scopes ?? [:])
    }

    /// The rows that hang on this one, and on those that do, however deep.
    public var scopesTree: ScopesTreeView {
        ScopesTreeView(row: self)
    }

    /// The row as the statement gives it, before any adapter.
    public var unadapted: Row {
        guard let layout else { return self }
        return row(layout.unadapted, layout: nil)
    }

    /// The row without scopes and prefetched rows.
    public var unscoped: Row {
        if let layout, !layout.scopes.isEmpty { return row(columns, layout: layout.replacingScopes([:])) }
        return prefetchedRows.isEmpty ? self : row(columns, layout: layout)
    }

    /// Pairs of name and row.
    public struct ScopesView: Collection {
        public typealias Index = Dictionary<String, RowLayout>.Index

        let row: Row
        let layouts: [String: RowLayout]

        public var names: Dictionary<String, RowLayout>.Keys { layouts.keys }

        public var startIndex: Index { layouts.startIndex }
        public var endIndex: Index { layouts.endIndex }
        public func index(after i: Index) -> Index { layouts.index(after: i) }

        public subscript(position: Index) -> (name: String, row: Row) {
            let name = layouts[position].key
            // The layouts are those of the row.
            return (name, row.scope(name)!)
        }

        /// The row of that name, if there is one.
        public subscript(name: String) -> Row? { row.scope(name) }
    }

    /// The scopes of a row, and theirs.
    public struct ScopesTreeView {
        let row: Row

        /// The names of all scopes.
        public var names: Set<String> { Set((row.layout?.paths ?? [:]).keys) }

        /// The row of that name: the nearest one, where several have it.
        public subscript(name: String) -> Row? {
            guard let path = row.layout?.paths[name] else { return nil }
            return path.reduce(row) { $0?.scope($1) }
        }
    }

    /// The prefetched rows of a row and of its scopes.
    public struct PrefetchedRowsView: Equatable {
        /// The rows that belong to the row itself, by key.
        var rows: [String: [Row]] = [:]

        /// The prefetched rows of its scopes, by name.
        var nested: [String: PrefetchedRowsView] = [:]

        /// A Boolean value that indicates whether nothing was prefetched.
        public var isEmpty: Bool { rows.isEmpty && nested.values.allSatisfy(\.isEmpty) }

        /// The keys of all prefetched rows.
        public var keys: Set<String> {
            nested.values.reduce(into: Set(rows.keys)) { $0.formUnion($1.keys) }
        }

        /// The rows of that key, empty when the query found none; nil when they were not prefetched.
        ///
        /// Of equal keys, the nearest to the row counts.
        public subscript(key: String) -> [Row]? {
            var level = [self]
            while !level.isEmpty {
                if let found = level.lazy.compactMap({ $0.rows[key] }).first { return found }
                level = level.flatMap { view in view.nested.sorted { $0.key < $1.key }.map(\.value) }
            }
            return nil
        }

        /// Adds rows to the row itself, or to the scope that `path` leads to.
        mutating func insert(_ rows: [Row], forKey key: String, at path: some Collection<String>) {
            if let name = path.first {
                nested[name, default: PrefetchedRowsView()].insert(rows, forKey: key, at: path.dropFirst())
            } else {
                self.rows[key] = rows
            }
        }
    }
}
