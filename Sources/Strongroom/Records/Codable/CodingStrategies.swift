import Foundation

/// A strategy that stores `Data` properties.
public enum DatabaseDataEncodingStrategy: Sendable {
    /// As blobs.
    case deferredToData

    /// As text; data that is not UTF-8 throws `EncodingError`.
    case text

    /// As the function returns it.
    case custom(@Sendable (Data) -> (any DatabaseValueConvertible)?)
}

/// A strategy that reads `Data` properties.
public enum DatabaseDataDecodingStrategy: Sendable {
    /// From blobs and text.
    case deferredToData

    /// As the function returns it; nil is an error.
    case custom(@Sendable (DatabaseValue) -> Data?)
}

/// A strategy that stores `Date` properties.
public enum DatabaseDateEncodingStrategy: @unchecked Sendable {
    // Unchecked: date formatters are thread-safe as long as they are not changed.

    /// `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
    case deferredToDate

    /// Seconds between the date and midnight UTC on 1 January 2001, as a double.
    case timeIntervalSinceReferenceDate

    /// Seconds between the date and midnight UTC on 1 January 1970, as a double.
    case timeIntervalSince1970

    /// Seconds between the date and midnight UTC on 1 January 1970, as an integer.
    case secondsSince1970

    /// Milliseconds between the date and midnight UTC on 1 January 1970, as an integer.
    case millisecondsSince1970

    /// ISO 8601, such as `2001-01-01T00:00:00Z`.
    case iso8601

    /// As the formatter formats it. Do not change the formatter afterwards.
    case formatted(DateFormatter)

    /// As the function returns it.
    case custom(@Sendable (Date) -> (any DatabaseValueConvertible)?)
}

/// A strategy that reads `Date` properties.
public enum DatabaseDateDecodingStrategy: @unchecked Sendable {
    // Unchecked: date formatters are thread-safe as long as they are not changed.

    /// From text that SQLite's date functions know, and numbers of seconds since 1970.
    case deferredToDate

    /// From a number of seconds since 1 January 2001.
    case timeIntervalSinceReferenceDate

    /// From a number of seconds since 1 January 1970.
    case timeIntervalSince1970

    /// From a number of milliseconds since 1 January 1970.
    case millisecondsSince1970

    /// From ISO 8601, such as `2001-01-01T00:00:00Z`.
    case iso8601

    /// As the formatter formats it. Do not change the formatter afterwards.
    case formatted(DateFormatter)

    /// As the function returns it; nil is an error.
    case custom(@Sendable (DatabaseValue) -> Date?)
}

/// A strategy that stores `UUID` properties. All forms can be read.
public enum DatabaseUUIDEncodingStrategy: Sendable {
    /// As a blob of 16 bytes.
    case deferredToUUID

    /// As `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`.
    case uppercaseString

    /// As `e621e1f8-c36c-495a-93fc-0c247a3e6e5f`.
    case lowercaseString
}

/// A strategy that derives columns from coding keys.
public enum DatabaseColumnEncodingStrategy: Sendable {
    /// `playerID` is `playerID`.
    case useDefaultKeys

    /// `playerID` is `player_id`.
    case convertToSnakeCase

    /// As the function returns it.
    case custom(@Sendable (any CodingKey) -> String)

    func column(for key: some CodingKey) -> String {
        switch self {
        case .useDefaultKeys: key.stringValue
        case .convertToSnakeCase: key.stringValue.snakeCased
        case .custom(let column): column(key)
        }
    }
}

/// A strategy that derives coding keys from columns.
public enum DatabaseColumnDecodingStrategy: Sendable {
    /// `playerID` is `playerID`.
    case useDefaultKeys

    /// `player_id` is `playerId`.
    case convertFromSnakeCase

    /// As the function returns it.
    case custom(@Sendable (String) -> any CodingKey)

    /// The text of the coding key for a column; nil if both are equal.
    var keyText: ((String) -> String)? {
        switch self {
        case .useDefaultKeys: nil
        case .convertFromSnakeCase: { $0.camelCased }
        case .custom(let key): { key($0).stringValue }
        }
    }
}

// MARK: - Carrying out

extension DatabaseDataEncodingStrategy {
    func databaseValue(_ data: Data) throws -> DatabaseValue {
        switch self {
        case .deferredToData:
            return data.databaseValue
        case .text:
            guard let text = String(data: data, encoding: .utf8) else {
                throw EncodingError.invalidValue(
                    data,
                    EncodingError.Context(
                        codingPath: [], debugDescription: "Data that is not UTF-8 can't be stored as text"))
            }
            return text.databaseValue
        case .custom(let convert):
            return convert(data)?.databaseValue ?? .null
        }
    }
}

extension DatabaseDataDecodingStrategy {
    func data(_ value: DatabaseValue) -> Data? {
        switch self {
        case .deferredToData: Data.fromDatabaseValue(value)
        case .custom(let convert): convert(value)
        }
    }
}

extension DatabaseDateEncodingStrategy {
    func databaseValue(_ date: Date) -> DatabaseValue {
        switch self {
        case .deferredToDate: date.databaseValue
        case .timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.databaseValue
        case .timeIntervalSince1970: date.timeIntervalSince1970.databaseValue
        case .secondsSince1970: Self.integer(date.timeIntervalSince1970)
        case .millisecondsSince1970: Self.integer(date.timeIntervalSince1970 * 1000)
        case .iso8601: iso8601Formatter().string(from: date).databaseValue
        case .formatted(let formatter): formatter.string(from: date).databaseValue
        case .custom(let convert): convert(date)?.databaseValue ?? .null
        }
    }

    /// Returns the integer below; NULL if there is none.
    private static func integer(_ value: Double) -> DatabaseValue {
        (Int64(exactly: value.rounded(.down)) as Int64?).databaseValue
    }
}

extension DatabaseDateDecodingStrategy {
    func date(_ value: DatabaseValue) -> Date? {
        switch self {
        case .deferredToDate: Date.fromDatabaseValue(value)
        case .timeIntervalSinceReferenceDate: Self.number(value).map { Date(timeIntervalSinceReferenceDate: $0) }
        case .timeIntervalSince1970: Self.number(value).map { Date(timeIntervalSince1970: $0) }
        case .millisecondsSince1970: Self.number(value).map { Date(timeIntervalSince1970: $0 / 1000) }
        case .iso8601: String.fromDatabaseValue(value).flatMap { iso8601Formatter().date(from: $0) }
        case .formatted(let formatter): String.fromDatabaseValue(value).flatMap { formatter.date(from: $0) }
        case .custom(let convert): convert(value)
        }
    }

    private static func number(_ value: DatabaseValue) -> Double? { Double.fromDatabaseValue(value) }
}

private func iso8601Formatter() -> ISO8601DateFormatter {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = .withInternetDateTime
    return formatter
}

extension DatabaseUUIDEncodingStrategy {
    func databaseValue(_ uuid: UUID) -> DatabaseValue {
        switch self {
        case .deferredToUUID: uuid.databaseValue
        case .uppercaseString: uuid.uuidString.databaseValue
        case .lowercaseString: uuid.uuidString.lowercased().databaseValue
        }
    }
}

extension String {
    /// `myURLValue` is `my_url_value`: words begin at capitals, and at the last of several capitals if more follows.
    var snakeCased: String {
        let characters = Array(self)
        var result = ""
        for (index, character) in characters.enumerated() {
            if character.isUppercase, index > 0, characters[index - 1] != "_" {
                let followsCapital = characters[index - 1].isUppercase
                let precedesLowercase = index + 1 < characters.count && characters[index + 1].isLowercase
                // As Foundation's JSON coders have it, the first letter is a word where a capital follows:
                // `u_rl_string`.
                if !followsCapital || precedesLowercase || index == 1 { result += "_" }
            }
            result += character.lowercased()
        }
        return result
    }

    /// `my_url_value` is `myUrlValue`; underscores around stay.
    var camelCased: String {
        guard let first = firstIndex(where: { $0 != "_" }), let last = lastIndex(where: { $0 != "_" }) else {
            return self
        }
        let words = self[first...last].split(separator: "_")
        guard words.count > 1 else { return self }
        let camel = words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
        return self[..<first] + camel + self[index(after: last)...]
    }
}
