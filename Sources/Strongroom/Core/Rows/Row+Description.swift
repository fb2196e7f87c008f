extension Row: CustomStringConvertible, CustomDebugStringConvertible {
    /// `[id:1 name:"Arthur"]`
    public var description: String {
        "[" + map { "\($0.0):\($0.1)" }.joined(separator: " ") + "]"
    }

    /// The row, its columns in the statement, its scopes and its prefetched rows, each on a line.
    public var debugDescription: String {
        let lines = detailLines
        return lines.isEmpty ? description : (["▿ " + description] + lines).joined(separator: "\n")
    }

    private var detailLines: [String] {
        let whole = unadapted.description
        let showsAll = scopes.isEmpty && whole == description
        return (showsAll ? [] : ["  unadapted: \(whole)"]) + scopeLines(indentation: "  ")
    }

    private func scopeLines(indentation: String) -> [String] {
        var lines: [String] = []
        for (name, row) in scopes.sorted(by: { $0.name < $1.name }) {
            lines.append("\(indentation)- \(name): \(row.description)")
            lines += row.scopeLines(indentation: indentation + "  ")
        }
        for key in prefetchedRows.keys.sorted() {
            let count = prefetchedRows[key]?.count ?? 0
            lines.append("\(indentation)+ \(key): \(count) \(count > 1 ? "rows" : "row")")
        }
        return lines
    }
}
