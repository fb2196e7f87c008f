import Foundation

/// A row of the schema. <https://www.sqlite.org/fileformat2.html#storage_of_the_sql_database_schema>
struct SchemaEntry: Equatable {
    enum Kind: String {
        case table, index, view, trigger
    }

    var kind: Kind
    var name: String
    var table: String
    var root: Int
    var sql: String?
    var rowID: Int64
    /// True if the page of the row is known to be one of the schema, now.
    var isProven = true

    /// Creates an entry from a row of any table. Nil if it isn't one of a schema.
    init?(_ record: StoredRecord, rowID: Int64, _ encoding: TextEncoding) {
        guard record.values.count == 5, let type = record.text(0, encoding), let kind = Kind(rawValue: type),
            let name = record.text(1, encoding), let table = record.text(2, encoding), !name.isEmpty, !table.isEmpty,
            // A name with a NUL would be another one in C.
            !(name + table).utf8.contains(0)
        else { return nil }
        switch record.values[4] {
        case .null: sql = nil
        case .text:
            guard let text = record.text(4, encoding), !text.utf8.contains(0) else { return nil }
            sql = text
        default: return nil
        }
        guard let root = record.integer(3) ?? (kind == .view || kind == .trigger ? 0 : nil), root >= 0,
            root <= Int64(UInt32.max), sql != nil || kind == .index
        else { return nil }
        (self.kind, self.name, self.table, self.root, self.rowID) = (kind, name, table, Int(root), rowID)
        // Only virtual tables have no root.
        if kind == .table, root == 0, !isVirtual { return nil }
    }

    /// The words of the SQL in capitals, without more than is needed to tell statements apart.
    private var opening: [Substring] {
        (sql ?? "").prefix(200).uppercased().split { $0 == " " || $0.isNewline }.prefix(4) + []
    }

    /// True for `CREATE VIRTUAL TABLE`.
    var isVirtual: Bool { kind == .table && root == 0 && opening.dropFirst().first == "VIRTUAL" }

    /// The module of a virtual table in small letters, such as `fts5`.
    var module: String? {
        // CREATE VIRTUAL TABLE name USING module, in the form in which SQLite stores it.
        guard isVirtual, let sql else { return nil }
        let words = SchemaStatement.words(sql).dropFirst(4).drop { $0.lowercased() != "using" }
        return words.dropFirst().first?.lowercased()
    }

    /// True for the tables that SQLite makes itself: sequences and statistics.
    var isInternal: Bool { name.lowercased().hasPrefix("sqlite_") }
}

/// The columns of a table, as its rows store them.
struct TableLayout {
    enum Affinity {
        case integer, real, numeric, text, blob

        /// <https://www.sqlite.org/datatype3.html#determination_of_column_affinity>
        init(declared: String) {
            let type = declared.uppercased()
            func has(_ word: String) -> Bool { type.contains(word) }
            self =
                has("INT")
                ? .integer
                : has("CHAR") || has("CLOB") || has("TEXT")
                    ? .text
                    : has("BLOB") || type.isEmpty
                        ? .blob : has("REAL") || has("FLOA") || has("DOUB") ? .real : .numeric
        }
    }

    struct Column {
        var name: String
        var affinity: Affinity
        var isRequired = false
        var hasDefault = false
        var isGenerated = false
        /// The type of a column of a STRICT table.
        var strictType: String?
    }

    var columns: [Column]
    /// The columns of a record, in its order.
    var stored: [Int]
    /// The column that is another name of the rowid, which its record doesn't have.
    var rowIDAlias: Int?
    /// A name of the rowid that no column has. Nil for tables without rowid.
    var rowIDName: String?
    var hasRowID = true

    /// Returns true if the row can be one of this table: for rows that nothing else proves to be.
    func fits(_ record: StoredRecord, _ encoding: TextEncoding) -> Bool {
        guard record.values.count <= stored.count, !record.values.isEmpty else { return false }
        for place in record.values.count..<stored.count {
            let column = columns[stored[place]]
            if column.isRequired && !column.hasDefault { return false }
        }
        return zip(stored, record.values).allSatisfy { index, value in
            if index == rowIDAlias {
                if case .null = value { return true }
                return false
            }
            return columns[index].accepts(value, record, encoding)
        }
    }
}

extension TableLayout.Column {
    /// Returns true if SQLite stores such a value in the column. <https://www.sqlite.org/datatype3.html#type_affinity>
    func accepts(_ value: StoredRecord.Value, _ record: StoredRecord, _ encoding: TextEncoding) -> Bool {
        switch value {
        case .null: return !isRequired
        case .integer:
            return strictType.map { ["INT", "INTEGER", "REAL", "ANY"].contains($0) } ?? (affinity != .text)
        case .real: return strictType.map { ["REAL", "ANY"].contains($0) } ?? (affinity != .text)
        case .blob: return strictType.map { ["BLOB", "ANY"].contains($0) } ?? true
        case .text(let range):
            if let strictType { return ["TEXT", "ANY"].contains(strictType) }
            guard affinity != .text, affinity != .blob else { return true }
            // A text that is a number would have been stored as one.
            guard range.count < 40, let text = encoding.text(record.bytes[range]) else { return true }
            return Double(text.filter { !$0.isWhitespace }) == nil
        }
    }
}
