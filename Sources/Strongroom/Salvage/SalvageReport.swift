/// The result of a salvage: the rows that were saved, and those that are missing.
public struct SalvageReport: Sendable, Equatable {
    /// The rows of one table.
    public struct Table: Sendable, Equatable {
        /// The name of the table.
        public var name: String
        /// The number of rows that were saved in the table of the new database.
        public var saved = 0
        /// The least number of missing rows, as authentic pages prove it. 0 for a database without authentication. More
        /// rows may be missing in ``unknownRanges``.
        public var missing = 0
        /// The rowids of missing rows of which a part was found. At most the first thousand.
        public var missingRows: [Int64] = []
        /// The ranges of rowids whose pages are damaged or absent: rows in them may be missing. At most the first
        /// thousand.
        public var unknownRanges: [RowRange] = []
        /// The number of rows that are in the table of lost rows, because they violate a constraint, or because their
        /// page may no longer belong to the table.
        public var setAside = 0
        /// The number of saved rows whose newest version is damaged. An older commit contained them.
        public var older = 0

        /// A Boolean value that indicates whether all rows were saved.
        public var isComplete: Bool { missing == 0 && missingRows.isEmpty && unknownRanges.isEmpty && setAside == 0 }

        init(name: String) { self.name = name }
    }

    /// A range of rowids.
    public struct RowRange: Sendable, Equatable {
        /// The rowid before the first one. Nil if there is no bound, or in a table without rowid.
        public var after: Int64?
        /// The last rowid. Nil if there is no bound, or in a table without rowid.
        public var through: Int64?
    }

    /// A damaged page.
    public struct Page: Sendable, Equatable {
        /// The number of the page, counted from 1.
        public var number: Int
        /// The former content of the page.
        public var content: Content
    }

    /// The former content of a damaged page, according to authentic pages.
    public enum Content: Sendable, Equatable {
        /// Rows of the schema, and on page 1 the header of the database.
        case schema
        /// Rows of a table, or references to its pages.
        case table(name: String, rows: RowRange)
        /// Entries of an index, which the new database builds again.
        case index(name: String)
        /// A part of a long row.
        case overflow(table: String, rowID: Int64)
        /// Nothing: the page was unused.
        case unused
        /// No authentic page refers to it.
        case unreferenced
    }

    /// A difference between the schema of the new database and that of the damaged one.
    public struct Problem: Sendable, Equatable {
        /// The kinds of problems.
        public enum Kind: String, Sendable {
            /// The object could not be created in the new database.
            case notCreated
            /// Saved rows violate the constraint.
            case violated
            /// The object was built again, from the content that was saved.
            case rebuilt
        }

        /// The name of the table, index, view or trigger.
        public var name: String
        /// The kind of the problem.
        public var kind: Kind
        /// SQLite's explanation.
        public var message: String
    }

    /// The tables whose schema is authentic, in the order of the schema.
    public var tables: [Table] = []
    /// The name of the table of lost rows. Nil if there are none.
    public var lostAndFound: String?
    /// The number of rows in the table of lost rows: their table is unknown, or they violate one of its constraints.
    public var lostRowCount = 0
    /// The damaged pages by number. At most the first hundred thousand.
    public var damagedPages: [Page] = []
    /// The number of damaged pages, absent ones included.
    public var damagedPageCount = 0
    /// The pages beyond the end of the file. Nil if the file isn't truncated.
    public var absentPages: ClosedRange<Int>?
    /// The differences between the schema of the new database and that of the damaged one.
    public var problems: [Problem] = []
    /// A Boolean value that indicates whether all pages of the schema were read. If it is false, tables may be missing.
    public var isSchemaComplete = true
    /// A Boolean value that indicates whether each page has an HMAC, which proves that it was written with the key.
    /// False for unencrypted files and for the format of SQLCipher 1: there, changed bytes can look like rows.
    public var isAuthenticated = true
    /// A Boolean value that indicates whether the write-ahead log beside the file was written with another key. It was
    /// left out: commits that the database's own log had are missing.
    public var hasForeignLog = false
    /// The number of pages that the database had, as far as it is known.
    public var pageCount = 0

    /// A Boolean value that indicates whether nothing is missing.
    public var isComplete: Bool {
        isSchemaComplete && !hasForeignLog && lostRowCount == 0 && tables.allSatisfy(\.isComplete)
            && problems.allSatisfy { $0.kind == .rebuilt }
    }

    init() {}
}

extension SalvageReport.Content: CustomStringConvertible {
    /// The content in words, such as `rows 1001 to 1090 of the table notes`.
    public var description: String {
        switch self {
        case .schema: "the schema"
        case .table(let name, let rows): rows.words.map { "\($0) of the table \(name)" } ?? "the table \(name)"
        case .index(let name): "the index \(name)"
        case .overflow(let table, let rowID): "a part of row \(rowID) of the table \(table)"
        case .unused: "nothing, the page was unused"
        case .unreferenced: "unknown"
        }
    }
}

extension SalvageReport.RowRange {
    /// The range in words, such as `rows 11 to 20`. Nil without bounds.
    public var words: String? {
        switch (after, through) {
        case (let after?, let through?): "rows \(after &+ 1) to \(through)"
        case (let after?, nil): "rows from \(after &+ 1)"
        case (nil, let through?): "rows up to \(through)"
        case (nil, nil): nil
        }
    }
}
