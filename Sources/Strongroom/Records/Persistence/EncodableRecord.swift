import Foundation

/// A type that can set the columns of a row.
///
/// `Encodable` types need no code: each property is a column, and properties that are no single value are stored as
/// JSON.
public protocol EncodableRecord: SendableMetatype {
    /// Sets the columns of the record.
    func encode(to container: inout PersistenceContainer) throws

    /// The user info of the encoder that the `encode(to:)` of properties gets. Default: empty.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// Returns the encoder of a column that is stored as JSON. Default: dates in milliseconds since 1970, data in
    /// Base64, keys sorted so that equal values have equal texts.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder

    /// Returns the strategy that stores `Data` properties in a column. Default: as blobs.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// Returns the strategy that stores `Date` properties in a column. Default: as text, `YYYY-MM-DD HH:MM:SS.SSS` in
    /// UTC.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// Returns the strategy that stores `UUID` properties in a column. Default: as blobs of 16 bytes.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// The strategy that derives columns from coding keys. Default: the same names.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }
}

extension EncodableRecord {
    /// An empty dictionary.
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    /// Returns an encoder that writes dates in milliseconds since 1970, data in Base64, and sorted keys.
    public static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = Int.databaseJSONEncoder()
        encoder.userInfo = databaseEncodingUserInfo.asSendable
        return encoder
    }

    /// Returns the strategy that stores data as blobs.
    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .deferredToData
    }

    /// Returns the strategy that stores dates as `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .deferredToDate
    }

    /// Returns the strategy that stores UUIDs as blobs of 16 bytes.
    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        .deferredToUUID
    }

    /// The strategy in which columns have the names of the coding keys.
    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }
}

extension EncodableRecord {
    // MARK: - Comparing

    /// The columns of the record with their values.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws { try Dictionary(PersistenceContainer(self).map { $0 }, uniquingKeysWith: { $1 }) }
    }

    /// Returns a Boolean value that indicates whether both records have the same columns with equal values. False if
    /// one of them can't be encoded.
    public func databaseEquals(_ record: Self) -> Bool {
        guard let changes = try? databaseChanges(from: record) else { return false }
        return changes.isEmpty
    }

    /// Returns the columns where the record differs from another, with the values of the other.
    public func databaseChanges(from record: some EncodableRecord) throws -> [String: DatabaseValue] {
        try PersistenceContainer(self).changes(from: PersistenceContainer(record))
    }

    /// Modifies the record and returns the columns that changed, with their former values.
    public mutating func databaseChanges(modify: (inout Self) throws -> Void) throws -> [String: DatabaseValue] {
        let former = try PersistenceContainer(self)
        try modify(&self)
        return try PersistenceContainer(self).changes(from: former)
    }
}

extension PersistenceContainer {
    /// Returns the columns that differ, with their former values; a column that `former` lacks was NULL there.
    func changes(from former: PersistenceContainer) -> [String: DatabaseValue] {
        var changes: [String: DatabaseValue] = [:]
        for (column, value) in self {
            let old = former.value(of: column) ?? .null
            if old != value { changes[column] = old }
        }
        return changes
    }
}

extension [CodingUserInfoKey: Any] {
    /// The dictionary for Foundation's coders, which require sendable values. They stay on the thread that created
    /// them.
    var asSendable: [CodingUserInfoKey: any Sendable] {
        // Sendable is a marker: both existentials are the same in memory. (Without `as Any`, Swift would cast what is
        // inside.)
        mapValues { unsafeBitCast($0 as Any, to: (any Sendable).self) }
    }
}
