/// A query that knows what its rows become: values, records or rows.
///
/// ```swift
/// let request: SQLRequest<Player> = "SELECT * FROM player WHERE score > \(minimumScore)"
/// let players = try request.fetchAll(db)
/// ```
///
/// A type of your own has to say how it is prepared, counted, and used as a subquery.
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible, SQLSubqueryable {
    /// The type that a row is decoded into.
    associatedtype RowDecoder

    /// The statement with its arguments, and the adapter of its rows.
    ///
    /// - parameter singleResult: whether one row is asked for: the request may leave the others out.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest

    /// The number of the request's rows.
    func fetchCount(_ db: Database) throws -> Int

    /// The part of the database that the request reads.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension FetchRequest {
    /// The part of the database that the request reads, as SQLite's compiler tells it.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }

    /// The same request with an adapter on its rows, or one more.
    ///
    /// The function that makes the adapter runs each time the request is prepared.
    public func adapted(
        _ adapter: @escaping @Sendable (Database) throws -> any RowAdapter) -> AdaptedFetchRequest<Self>
    {
        AdaptedFetchRequest(base: self, adapter: adapter)
    }
}

/// A request prepared for one connection: a statement with its arguments, and the adapter of its rows.
public struct PreparedRequest {
    public var statement: Statement
    public var adapter: (any RowAdapter)?

    /// Fetches what belongs to the rows, and hangs it on them.
    var prefetch: ((Database, [Row]) throws -> Void)?

    /// The requests of what it would fetch for them, each under its key path; nil where there is nothing to ask for.
    var associated: ((Database, [Row]) throws -> [(keyPath: String, request: (() throws -> PreparedRequest)?)])?

    init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }

    /// True if rows are complete only after further queries.
    @usableFromInline
    var prefetches: Bool { prefetch != nil }

    @usableFromInline
    func allRows(_ db: Database) throws -> [Row] {
        let rows = try Row.fetchAll(statement, adapter: adapter)
        try prefetch?(db, rows)
        return rows
    }

    @usableFromInline
    func firstRow(_ db: Database) throws -> Row? {
        guard let row = try Row.fetchOne(statement, adapter: adapter) else { return nil }
        try prefetch?(db, [row])
        return row
    }

    func requireNoPrefetch() {
        if prefetches {
            fatalError(
                "A cursor can't prefetch associated rows: use fetchAll, or leave including(all:) out of the request.")
        }
    }
}

/// A request with an adapter on its rows: see ``FetchRequest/adapted(_:)``.
public struct AdaptedFetchRequest<Base: FetchRequest>: FetchRequest {
    public typealias RowDecoder = Base.RowDecoder

    let base: Base
    let adapter: @Sendable (Database) throws -> any RowAdapter

    public var sqlSubquery: SQLSubquery { base.sqlSubquery }

    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try base.databaseRegion(db)
    }

    public func fetchCount(_ db: Database) throws -> Int {
        try base.fetchCount(db)
    }

    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false) throws -> PreparedRequest
    {
        var prepared = try base.makePreparedRequest(db, forSingleResult: singleResult)
        let second = try adapter(db)
        prepared.adapter = prepared.adapter.map { ChainedAdapter(first: $0, second: second) } ?? second
        return prepared
    }
}

/// A request whose own type does not show.
public struct AnyFetchRequest<RowDecoder>: FetchRequest {
    private let request: any FetchRequest

    public init(_ request: some FetchRequest<RowDecoder>) {
        self.request = request
    }

    private init(erasing request: any FetchRequest) {
        self.request = request
    }

    /// The same request with rows that become something else.
    public func asRequest<T>(of type: T.Type) -> AnyFetchRequest<T> {
        AnyFetchRequest<T>(erasing: request)
    }

    public var sqlSubquery: SQLSubquery { request.sqlSubquery }

    public func fetchCount(_ db: Database) throws -> Int {
        try request.fetchCount(db)
    }

    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try request.databaseRegion(db)
    }

    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false) throws -> PreparedRequest
    {
        try request.makePreparedRequest(db, forSingleResult: singleResult)
    }
}
