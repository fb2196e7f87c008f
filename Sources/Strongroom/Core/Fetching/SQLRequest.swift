/// A request that is defined in SQL.
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

    /// Creates a request from a literal.
    ///
    /// - parameters:
    ///   - sqlLiteral: the literal.
    ///   - adapter: the adapter of the rows. Default: nil.
    ///   - cached: true to prepare the statement of ``Database/cachedStatement(sql:)``. Other statements are cached
    ///     between uses, too. Default: false.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter, isCached: cached)
    }

    /// Creates a request from SQL and its arguments.
    ///
    /// - parameters:
    ///   - sql: the SQL.
    ///   - arguments: the arguments. Default: none.
    ///   - adapter: the adapter of the rows. Default: nil.
    ///   - cached: true to prepare the statement of ``Database/cachedStatement(sql:)``. Other statements are cached
    ///     between uses, too. Default: false.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(SQL(sql: sql, arguments: arguments), adapter, isCached: cached)
    }

    /// The query.
    public var sqlSubquery: SQLSubquery { .literal(sqlLiteral) }

    /// Returns the prepared statement with its arguments and adapter.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        let (sql, arguments) = try sqlLiteral.build(db)
        let statement = try isCached ? db.cachedStatement(sql: sql) : db.reusableStatement(sql: sql)
        try statement.setArguments(arguments)
        return PreparedRequest(statement: statement, adapter: adapter)
    }

    /// Returns the number of the request's rows.
    public func fetchCount(_ db: Database) throws -> Int {
        // COUNT returns one row, and never NULL.
        try SQLRequest<Int>(literal: "SELECT COUNT(*) FROM (\(sqlSubquery))").fetchOne(db)!
    }
}

extension SQLRequest<Row> {
    /// Creates a request for rows from a literal.
    ///
    /// - parameters:
    ///   - sqlLiteral: the literal.
    ///   - adapter: the adapter of the rows. Default: nil.
    ///   - cached: true to prepare the statement of ``Database/cachedStatement(sql:)``. Other statements are cached
    ///     between uses, too. Default: false.
    public init(literal sqlLiteral: SQL, adapter: (any RowAdapter)? = nil, cached: Bool = false) {
        self.init(sqlLiteral, adapter, isCached: cached)
    }

    /// Creates a request for rows from SQL and its arguments.
    ///
    /// - parameters:
    ///   - sql: the SQL.
    ///   - arguments: the arguments. Default: none.
    ///   - adapter: the adapter of the rows. Default: nil.
    ///   - cached: true to prepare the statement of ``Database/cachedStatement(sql:)``. Other statements are cached
    ///     between uses, too. Default: false.
    public init(
        sql: String, arguments: StatementArguments = StatementArguments(), adapter: (any RowAdapter)? = nil,
        cached: Bool = false
    ) {
        self.init(SQL(sql: sql, arguments: arguments), adapter, isCached: cached)
    }
}

extension SQLRequest: ExpressibleByStringInterpolation {
    /// Creates a request from SQL.
    public init(unicodeScalarLiteral: String) {
        self.init(SQL(sql: unicodeScalarLiteral), nil)
    }

    /// Creates a request from SQL.
    public init(extendedGraphemeClusterLiteral: String) {
        self.init(SQL(sql: extendedGraphemeClusterLiteral), nil)
    }

    /// Creates a request from SQL.
    public init(stringLiteral: String) {
        self.init(SQL(sql: stringLiteral), nil)
    }

    /// Creates a request from SQL and interpolated values.
    public init(stringInterpolation sqlInterpolation: SQLInterpolation) {
        self.init(SQL(stringInterpolation: sqlInterpolation), nil)
    }
}
