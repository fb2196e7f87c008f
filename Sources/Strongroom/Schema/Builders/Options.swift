/// The options of a new table. <https://www.sqlite.org/lang_createtable.html>
public struct TableOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Nothing happens when a table of that name exists.
    public static let ifNotExists = TableOptions(rawValue: 1 << 0)

    /// The table goes with the connection.
    public static let temporary = TableOptions(rawValue: 1 << 1)

    /// The primary key takes the place of the rowid. <https://www.sqlite.org/withoutrowid.html>
    public static let withoutRowID = TableOptions(rawValue: 1 << 2)

    /// Columns accept values of their type only. <https://www.sqlite.org/stricttables.html>
    public static let strict = TableOptions(rawValue: 1 << 3)
}

/// The options of a new index. <https://www.sqlite.org/lang_createindex.html>
public struct IndexOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Nothing happens when an index of that name exists.
    public static let ifNotExists = IndexOptions(rawValue: 1 << 0)

    /// No two rows have the same indexed values; NULLs differ from each other.
    public static let unique = IndexOptions(rawValue: 1 << 1)
}

/// The options of a new view. <https://www.sqlite.org/lang_createview.html>
public struct ViewOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Nothing happens when a view of that name exists.
    public static let ifNotExists = ViewOptions(rawValue: 1 << 0)

    /// The view goes with the connection.
    public static let temporary = ViewOptions(rawValue: 1 << 1)
}

/// The options of a new virtual table. <https://www.sqlite.org/lang_createvtab.html>
public struct VirtualTableOptions: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Nothing happens when a table of that name exists.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1 << 0)

    /// The table goes with the connection.
    public static let temporary = VirtualTableOptions(rawValue: 1 << 1)
}
