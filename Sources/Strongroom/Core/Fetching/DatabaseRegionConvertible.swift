/// A type whose values depend on a part of the database.
public protocol DatabaseRegionConvertible: Sendable {
    /// Returns the region, which may depend on the schema.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegion: DatabaseRegionConvertible {
    /// Returns the region itself.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// The region of all tables, including those that will be created.
    public static var fullDatabase: DatabaseRegion { .fullDatabase }
}

/// A type-erased region.
public struct AnyDatabaseRegionConvertible: DatabaseRegionConvertible {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// Creates a region that is computed when it is needed.
    public init(_ region: @escaping @Sendable (Database) throws -> DatabaseRegion) {
        self.region = region
    }

    /// Creates a region from another one.
    public init(_ region: some DatabaseRegionConvertible) {
        self.region = { try region.databaseRegion($0) }
    }

    /// Returns the region.
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try region(db) }
}
