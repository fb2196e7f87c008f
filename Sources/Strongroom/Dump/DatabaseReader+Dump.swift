// Dumps that run in an access of their own. The functions of `Database` document their output and their errors.

extension DatabaseReader {
    /// Prints the rows of all statements of the SQL, outside of any transaction. See
    /// ``Database/dumpSQL(_:format:to:)``.
    ///
    /// A queue also runs statements that write.
    public func dumpSQL(
        _ sql: SQL,
        format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try unsafeReentrantRead { try $0.dumpSQL(sql, format: format, to: stream) }
    }

    /// Prints the rows of a request. See ``Database/dumpRequest(_:format:to:)``.
    public func dumpRequest(
        _ request: some FetchRequest,
        format: some DumpFormat = .debug(),
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try read { try $0.dumpRequest(request, format: format, to: stream) }
    }

    /// Prints the rows of tables and views. See ``Database/dumpTables(_:format:tableHeader:stableOrder:to:)``.
    public func dumpTables(
        _ tables: [String], format: some DumpFormat = .debug(),
        tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        to stream: (any TextOutputStream)? = nil
    ) throws {
        try read {
            try $0.dumpTables(tables, format: format, tableHeader: tableHeader, stableOrder: stableOrder, to: stream)
        }
    }

    /// Prints the schema and the rows of all tables. See ``Database/dumpContent(format:to:)``.
    public func dumpContent(format: some DumpFormat = .debug(), to stream: (any TextOutputStream)? = nil) throws {
        try read { try $0.dumpContent(format: format, to: stream) }
    }

    /// Prints the SQL that made the database. See ``Database/dumpSchema(to:)``.
    public func dumpSchema(to stream: (any TextOutputStream)? = nil) throws {
        try read { try $0.dumpSchema(to: stream) }
    }
}
