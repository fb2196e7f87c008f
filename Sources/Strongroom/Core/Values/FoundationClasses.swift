import Foundation

// Foundation's classes are stored as their values. Casts to `Self` return nil for subclasses that can't be created
// here.

extension NSNumber: DatabaseValueConvertible {
    /// The number as an integer or a double. Booleans are 0 and 1. A decimal number is an integer if SQLite can store
    /// it as one, and otherwise a double, which may lose digits: store a `Decimal` to keep them.
    ///
    /// - precondition: an integer is at most `Int64.max`, SQLite's largest integer.
    public var databaseValue: DatabaseValue {
        if let decimal = self as? NSDecimalNumber {
            return Int64(decimal.decimalValue.description)?.databaseValue ?? decimal.doubleValue.databaseValue
        }
        return switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "f"), UInt8(ascii: "d"): doubleValue.databaseValue
        case UInt8(ascii: "Q"), UInt8(ascii: "L"): uint64Value.databaseValue
        default: int64Value.databaseValue
        }
    }

    /// Returns a number, or the decimal number of a text, with all its digits.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        if self == NSDecimalNumber.self {
            return Decimal.fromDatabaseValue(dbValue).flatMap { NSDecimalNumber(decimal: $0) as? Self }
        }
        return switch dbValue.storage {
        case .int64(let value): NSNumber(value: value) as? Self
        case .double(let value): NSNumber(value: value) as? Self
        case .string: Decimal.fromDatabaseValue(dbValue).flatMap { NSDecimalNumber(decimal: $0) as? Self }
        case .null, .blob: nil
        }
    }
}

extension NSString: DatabaseValueConvertible {
    /// The string as text.
    public var databaseValue: DatabaseValue { description.databaseValue }

    /// Returns a text, or the UTF-8 in a blob.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        guard let text = String.fromDatabaseValue(dbValue) else { return nil }
        return (NSString(string: text) as? Self) ?? (NSMutableString(string: text) as? Self)
    }
}

extension NSData: DatabaseValueConvertible {
    /// The data as a blob.
    public var databaseValue: DatabaseValue { Data(referencing: self).databaseValue }

    /// Returns a blob, or the UTF-8 of a text.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        guard let data = Data.fromDatabaseValue(dbValue) else { return nil }
        return (NSData(data: data) as? Self) ?? (NSMutableData(data: data) as? Self)
    }
}

extension NSDate: DatabaseValueConvertible {
    /// The date, stored like a `Date`.
    public var databaseValue: DatabaseValue {
        Date(timeIntervalSinceReferenceDate: timeIntervalSinceReferenceDate).databaseValue
    }

    /// Returns the date in a database value: see `Date`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        Date.fromDatabaseValue(dbValue).flatMap {
            NSDate(timeIntervalSinceReferenceDate: $0.timeIntervalSinceReferenceDate) as? Self
        }
    }
}

extension NSUUID: DatabaseValueConvertible {
    /// The UUID as a blob of 16 bytes.
    public var databaseValue: DatabaseValue {
        UUID(uuidString: uuidString)?.databaseValue ?? .null
    }

    /// Returns the UUID in a database value: see `UUID`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        UUID.fromDatabaseValue(dbValue).flatMap { NSUUID(uuidString: $0.uuidString) as? Self }
    }
}

extension NSURL: DatabaseValueConvertible {
    /// The absolute string as text.
    public var databaseValue: DatabaseValue {
        // An optional on Apple platforms only.
        let text: String? = absoluteString
        return text?.databaseValue ?? .null
    }

    /// Returns the URL in a database value: see `URL`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        URL.fromDatabaseValue(dbValue).flatMap { NSURL(string: $0.absoluteString) as? Self }
    }
}

extension NSNull: DatabaseValueConvertible {
    /// NULL.
    public var databaseValue: DatabaseValue { .null }

    /// Returns nil, also for NULL: a missing value is read as nil.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { nil }
}
