/// A query that other queries use as a table: `WITH … AS (…)`.
///
/// ```swift
/// let best = CommonTableExpression(named: "best", request: Player.order(\.score.desc).limit(10))
/// let average = best.all().with(best).select(average(Column("score")), as: Double.self)
/// ```
///
/// Source: <https://www.sqlite.org/lang_with.html>.
public struct CommonTableExpression<RowDecoder>: Sendable {
    let table: SQLCommonTable

    /// The name of the table.
    public var tableName: String { table.name }

    private init(_ recursive: Bool, _ tableName: String, _ columns: [String]?, _ query: SQLSubquery) {
        table = SQLCommonTable(name: tableName, columns: columns, isRecursive: recursive, query: query)
    }

    /// Creates a common table expression of a request.
    ///
    /// - parameters:
    ///   - recursive: true if the query can read the table that it defines. Default: false.
    ///   - tableName: the name of the common table in SQL.
    ///   - columns: the names of the columns; nil for those that the query gives them.
    ///   - request: the query.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, request: some SQLSubqueryable
    ) {
        self.init(recursive, tableName, columns, request.sqlSubquery)
    }

    /// SQL text as a table.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        sql: String, arguments: StatementArguments = StatementArguments()
    ) {
        self.init(recursive, tableName, columns, .literal(SQL(sql: sql, arguments: arguments)))
    }

    /// Creates a common table expression of a literal.
    public init(recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL) {
        self.init(recursive, tableName, columns, .literal(sqlLiteral))
    }

    /// Returns a request for all rows. It needs the definition: `cte.all().with(cte)`.
    public func all() -> QueryInterfaceRequest<RowDecoder> {
        QueryInterfaceRequest(tableName: tableName, selection: [AllColumns()])
    }

    /// Returns a condition that one of the rows, of a table with one column, is `element`.
    public func contains(_ element: some SQLExpressible) -> SQLExpression {
        SQLExpression(
            node: .contained(
                element.sqlExpression, in: SQLSubquery(node: .table(tableName)),
                isNegated: false))
    }
}

extension CommonTableExpression where RowDecoder == Row {
    /// Creates a common table expression of a request, whose rows are decoded as `Row`.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil, request: some SQLSubqueryable
    ) {
        self.init(recursive, tableName, columns, request.sqlSubquery)
    }

    /// SQL text as a table whose rows are rows.
    public init(
        recursive: Bool = false, named tableName: String, columns: [String]? = nil,
        sql: String, arguments: StatementArguments = StatementArguments()
    ) {
        self.init(recursive, tableName, columns, .literal(SQL(sql: sql, arguments: arguments)))
    }

    /// Creates a common table expression of a literal, whose rows are decoded as `Row`.
    public init(recursive: Bool = false, named tableName: String, columns: [String]? = nil, literal sqlLiteral: SQL) {
        self.init(recursive, tableName, columns, .literal(sqlLiteral))
    }
}

extension DerivableRequest {
    /// Adds a common table expression that the joins, conditions and subqueries of the request may read.
    public func with<T>(_ cte: CommonTableExpression<T>) -> Self {
        var request = self
        request.sqlRelation.define(cte.table)
        return request
    }
}

extension TableRecord {
    /// Returns a request whose joins, conditions and subqueries may read a common table expression.
    public static func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<Self> {
        all().with(cte)
    }
}

extension Table {
    /// Returns a request whose joins, conditions and subqueries may read a common table expression.
    public func with<T>(_ cte: CommonTableExpression<T>) -> QueryInterfaceRequest<RowDecoder> {
        all().with(cte)
    }
}

extension SQLInterpolation {
    /// The name of a common table, quoted.
    public mutating func appendInterpolation(_ cte: CommonTableExpression<some Any>) {
        appendInterpolation(identifier: cte.tableName)
    }

    /// The definition of a common table: `WITH \(definitionFor: cte) SELECT …`.
    public mutating func appendInterpolation(definitionFor cte: CommonTableExpression<some Any>) {
        elements.append(.commonTable(cte.table))
    }
}
