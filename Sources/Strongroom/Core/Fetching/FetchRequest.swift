/// A type that represents a query and the type of its rows: values, records or rows.
///
/// ```swift
/// let request: SQLRequest<Player> = "SELECT * FROM player WHERE score > \(minimumScore)"
/// let players = try request.fetchAll(db)
/// ```
///
/// A type of your own implements how it is prepared, counted, and used as a subquery.
public protocol FetchRequest<RowDecoder>: DatabaseRegionConvertible, SQLSubqueryable {
    /// The type that a row is decoded into.
    associatedtype RowDecoder

    /// Returns the statement with its arguments, and the adapter of its rows.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - singleResult: true if only the first row is fetched. The request may omit the others.
    func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest

    /// Returns the number of the request's rows.
    func fetchCount(_ db: Database) throws -> Int

    /// Returns the region of the database that the request reads.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension FetchRequest {
    /// Returns the region of the database that the request reads, as SQLite's compiler reports it.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try makePreparedRequest(db, forSingleResult: false).statement.databaseRegion
    }

    /// Returns the request with a row adapter, or with one more.
    ///
    /// `adapter` is called each time the request is prepared.
    public func adapted(
        _ adapter: @escaping @Sendable (Database) throws -> any RowAdapter
    ) -> AdaptedFetchRequest<Self> {
        AdaptedFetchRequest(base: self, adapter: adapter)
    }
}

/// A request prepared for one connection: a statement with its arguments, and the adapter of its rows.
public struct PreparedRequest {
    /// The statement, with its arguments.
    public var statement: Statement
    /// The adapter of the rows.
    public var adapter: (any RowAdapter)?

    /// The function that fetches the associated rows, and adds them to the rows.
    var prefetch: ((Database, [Row]) throws -> Void)?

    /// The function that returns the requests of the prefetch, each with its key path. A request is nil if there is
    /// nothing to fetch.
    var associated: ((Database, [Row]) throws -> [(keyPath: String, request: (() throws -> PreparedRequest)?)])?

    init(statement: Statement, adapter: (any RowAdapter)? = nil) {
        self.statement = statement
        self.adapter = adapter
    }

    /// True if the rows need further queries.
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

/// A request with a row adapter: see ``FetchRequest/adapted(_:)``.
public struct AdaptedFetchRequest<Base: FetchRequest>: FetchRequest {
    /// The type that a row is decoded into.
    public typealias RowDecoder = Base.RowDecoder

    let base: Base
    let adapter: @Sendable (Database) throws -> any RowAdapter

    /// The query.
    public var sqlSubquery: SQLSubquery { base.sqlSubquery }

    /// Returns the region of the base request.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try base.databaseRegion(db)
    }

    /// Returns the number of rows of the base request.
    public func fetchCount(_ db: Database) throws -> Int {
        try base.fetchCount(db)
    }

    /// Returns the prepared base request with the adapter.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        var prepared = try base.makePreparedRequest(db, forSingleResult: singleResult)
        let second = try adapter(db)
        prepared.adapter = prepared.adapter.map { ChainedAdapter(first: $0, second: second) } ?? second
        return prepared
    }
}

/// A type-erased request.
public struct AnyFetchRequest<RowDecoder>: FetchRequest {
    private let request: any FetchRequest

    /// Creates a request that wraps another one.
    public init(_ request: some FetchRequest<RowDecoder>) {
        self.request = request
    }

    private init(erasing request: any FetchRequest) {
        self.request = request
    }

    /// Returns the request with another type of rows.
    public func asRequest<T>(of type: T.Type) -> AnyFetchRequest<T> {
        AnyFetchRequest<T>(erasing: request)
    }

    /// The query.
    public var sqlSubquery: SQLSubquery { request.sqlSubquery }

    /// Returns the number of rows of the wrapped request.
    public func fetchCount(_ db: Database) throws -> Int {
        try request.fetchCount(db)
    }

    /// Returns the region of the wrapped request.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion {
        try request.databaseRegion(db)
    }

    /// Returns the prepared wrapped request.
    public func makePreparedRequest(
        _ db: Database, forSingleResult singleResult: Bool = false
    ) throws -> PreparedRequest {
        try request.makePreparedRequest(db, forSingleResult: singleResult)
    }
}
