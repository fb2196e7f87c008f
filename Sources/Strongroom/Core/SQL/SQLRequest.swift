/// A request made of SQL.
///
/// ```swift
/// let request: SQLRequest<Player> = "SELECT * FROM player WHERE id = \(id)"
/// let player = try request.fetchOne(db)
///
/// let rows = try SQLRequest(sql: "SELECT * FROM player WHERE id = ?", arguments: [id]).fetchAll(db)
/// ```
public struct SQLRequest<RowDecoder>: FetchRequest {
    /// The adapter of the rows.
    public var adapter: (any RowAdapter)?

    private let sqlLiteral: SQL
    private let isCached: Bool

    private init(_ sqlLiteral: SQL, _ adapter: (any RowAdapter)?, isCached: Bool = false) {
        self.sqlLiteral = sqlLiteral
        self.adapter = adapter
        self.isCached = isCached
    }

    /// A request made of a literal.
    ///
    /// - parameter cached: whether each preparation gives the one statement of ``Database/cachedStatement(sql:)``.
    ///   Statements are kept for the next use either way.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter, isCached: cached)
    }

    /// A request made of SQL and its arguments.
    ///
    /// - parameter cached: whether each preparation gives the one statement of ``Database/cachedStatement(sql:)``.
    ///   Statements are kept for the next use either way.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false)
    {
        self.init(SQL(sql: sql, arguments: arguments), adapter, isCached: cached)
    }

    public var sqlSubquery: SQLSubquery { .literal(sqlLiteral) }

    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false) throws -> PreparedRequest
    {
        let (sql, arguments) = try sqlLiteral.build(db)
        let statement = try isCached ? db.cachedStatement(sql: sql) : db.reusableStatement(sql: sql)
        try statement.setArguments(arguments)
        return PreparedRequest(statement: statement, adapter: adapter)
    }

    public func fetchCount(_ db: Database) throws -> Int {
        // COUNT gives one row, and no NULL.
        try SQLRequest<Int>(literal: "SELECT COUNT(*) FROM (\(sqlSubquery))").fetchOne(db)!
    }
}

extension SQLRequest<Row> {
    /// A request for rows made of a literal.
    ///
    /// - parameter cached: whether each preparation gives the one statement of ``Database/cachedStatement(sql:)``.
    ///   Statements are kept for the next use either way.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter, isCached: cached)
    }

    /// A request for rows made of SQL and its arguments.
    ///
    /// - parameter cached: whether each preparation gives the one statement of ``Database/cachedStatement(sql:)``.
    ///   Statements are kept for the next use either way.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false)
    {
        self.init(SQL(sql: sql, arguments: arguments), adapter, isCached: cached)
    }
}

extension SQLRequest: ExpressibleByStringInterpolation {
    public init(unicodeScalarLiteral: String) {
        self.init(SQL(sql: unicodeScalarLiteral), nil)
    }

    public init(extendedGraphemeClusterLiteral: String) {
        self.init(SQL(sql: extendedGraphemeClusterLiteral), nil)
    }

    public init(stringLiteral: String) {
        self.init(SQL(sql: stringLiteral), nil)
    }

    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(SQL(stringInterpolation: sqlInterpolation), nil)
    }
}
