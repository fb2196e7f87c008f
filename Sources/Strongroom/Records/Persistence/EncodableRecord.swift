import Foundation

/// A type that knows the values of its columns.
///
/// `Encodable` types have nothing to write: each property is a column, what is no single value is stored as JSON.
public protocol EncodableRecord: SendableMetatype {
    /// Sets the columns of the record.
    func encode(to container: inout PersistenceContainer) throws

    /// What the `encode(to:)` of properties finds in its encoder. Default: nothing.
    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { get }

    /// The encoder of a column that is stored as JSON. Default: dates in milliseconds since 1970, data in Base64, keys
    /// sorted so that equal values have equal texts.
    static func databaseJSONEncoder(for column: String) -> JSONEncoder

    /// How `Data` properties are stored. Default: as blobs.
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy

    /// How `Date` properties are stored. Default: as `Date` is, `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy

    /// How `UUID` properties are stored. Default: as `UUID` is, a blob of 16 bytes.
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy

    /// How coding keys become columns. Default: they have the same name.
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { get }
}

extension EncodableRecord {
    public static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { [:] }

    public static func databaseJSONEncoder(for column: String) -> JSONEncoder {
        let encoder = Int.databaseJSONEncoder()
        encoder.userInfo = databaseEncodingUserInfo.asSendable
        return encoder
    }

    public static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .deferredToData }

    public static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .deferredToDate }

    public static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { .deferredToUUID }

    public static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .useDefaultKeys }
}

extension EncodableRecord {
    // MARK: - Comparing

    /// The values of all columns.
    public var databaseDictionary: [String: DatabaseValue] {
        get throws { try Dictionary(PersistenceContainer(self).map { $0 }, uniquingKeysWith: { $1 }) }
    }

    /// Whether both records have the same columns with the same values. False when one of them can't be encoded.
    public func databaseEquals(_ record: Self) -> Bool {
        guard let changes = try? databaseChanges(from: record) else { return false }
        return changes.isEmpty
    }

    /// The columns where the record differs from another, with the values of the other.
    public func databaseChanges(from record: some EncodableRecord) throws -> [String: DatabaseValue] {
        try PersistenceContainer(self).changes(from: PersistenceContainer(record))
    }

    /// Modifies the record; returns the columns that changed, with the values that they had.
    public mutating func databaseChanges(modify: (inout Self) throws -> Void) throws -> [String: DatabaseValue] {
        let former = try PersistenceContainer(self)
        try modify(&self)
        return try PersistenceContainer(self).changes(from: former)
    }
}

extension PersistenceContainer {
    /// The columns that differ, with their former values; a column that `former` lacks was NULL there.
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
    /// The same for Foundation's coders, which want sendable values. They are used where they were made.
    var asSendable: [CodingUserInfoKey: any Sendable] {
        // Sendable is a marker: both existentials are the same in memory. (Without `as Any`, Swift would cast what is inside.)
        mapValues { unsafeBitCast($0 as Any, to: (any Sendable).self) }
    }
}
