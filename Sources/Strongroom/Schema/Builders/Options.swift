/// The options of a new table. <https://www.sqlite.org/lang_createtable.html>
public struct TableOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Does nothing if a table with the name exists.
    public static let ifNotExists = TableOptions(rawValue: 1 << 0)

    /// Creates a table that is deleted when the connection is closed.
    public static let temporary = TableOptions(rawValue: 1 << 1)

    /// Stores rows by their primary key instead of a rowid. <https://www.sqlite.org/withoutrowid.html>
    public static let withoutRowID = TableOptions(rawValue: 1 << 2)

    /// Only accepts values of the declared type in each column. <https://www.sqlite.org/stricttables.html>
    public static let strict = TableOptions(rawValue: 1 << 3)
}

/// The options of a new index. <https://www.sqlite.org/lang_createindex.html>
public struct IndexOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Does nothing if an index with the name exists.
    public static let ifNotExists = IndexOptions(rawValue: 1 << 0)

    /// Refuses equal indexed values in two rows. NULLs are different from each other.
    public static let unique = IndexOptions(rawValue: 1 << 1)
}

/// The options of a new view. <https://www.sqlite.org/lang_createview.html>
public struct ViewOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Does nothing if a view with the name exists.
    public static let ifNotExists = ViewOptions(rawValue: 1 << 0)

    /// Creates a view that is deleted when the connection is closed.
    public static let temporary = ViewOptions(rawValue: 1 << 1)
}

/// The options of a new virtual table. <https://www.sqlite.org/lang_createvtab.html>
public struct VirtualTableOptions: OptionSet, Sendable {
    /// The bits of the set.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Does nothing if a table with the name exists.
    public static let ifNotExists = VirtualTableOptions(rawValue: 1 << 0)

    /// Creates a table that is deleted when the connection is closed.
    public static let temporary = VirtualTableOptions(rawValue: 1 << 1)
}
