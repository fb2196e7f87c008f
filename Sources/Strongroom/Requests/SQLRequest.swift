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

    private init(_ sqlLiteral: SQL, _ adapter: (any RowAdapter)?) {
        self.sqlLiteral = sqlLiteral
        self.adapter = adapter
    }

    /// A request made of a literal.
    ///
    /// - parameter cached: has no effect: prepared statements are always kept for the next use.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter)
    }

    /// A request made of SQL and its arguments.
    ///
    /// - parameter cached: has no effect: prepared statements are always kept for the next use.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil, cached: Bool = false)
    {
        self.init(SQL(sql: sql, arguments: arguments), adapter)
    }

    public var sqlSubquery: SQLSubquery { .literal(sqlLiteral) }

    public func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool = false) throws -> PreparedRequest {
        let (sql, arguments) = try sqlLiteral.build(db)
        let statement = try db.reusableStatement(sql: sql)
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
    /// - parameter cached: has no effect: prepared statements are always kept for the next use.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter)
    }

    /// A request for rows made of SQL and its arguments.
    ///
    /// - parameter cached: has no effect: prepared statements are always kept for the next use.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil, cached: Bool = false)
    {
        self.init(SQL(sql: sql, arguments: arguments), adapter)
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
