import Foundation

extension UUID: DatabaseValueConvertible, StatementColumnConvertible {
    /// The UUID as a blob of 16 bytes.
    public var databaseValue: DatabaseValue {
        DatabaseValue(storage: .blob(withUnsafeBytes(of: uuid) { Data($0) }))
    }

    /// True if an argument list can hold the value itself.
    public var _isPlainValue: Bool { true }

    /// Returns the UUID in a blob of 16 bytes, or in a text such as `"e621e1f8-c36c-495a-93fc-0c247a3e6e5f"`.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> UUID? {
        switch dbValue.storage {
        case .blob(let bytes): bytes.withUnsafeBytes { UUID(bytes: $0) }
        case .string(var text): text.withUTF8 { UUID(text: $0) }
        default: nil
        }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        withUnsafeBytes(of: uuid) { StatementParameter(sqliteStatement, index).bind(blob: $0) }
    }

    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> UUID? {
        UUID(sqliteStatement: sqliteStatement, index: index)
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        let column = StatementColumn(sqliteStatement, index)
        let value: UUID? =
            switch column.kind {
            case .blob: column.withBlob { UUID(bytes: $0) }
            case .text: column.withText(.text) { UUID(text: $0) }
            default: nil
            }
        guard let value else { return nil }
        self = value
    }

    private init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 16 else { return nil }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }

    /// Creates a UUID from 32 hexadecimal digits, with dashes after the 8th, 12th, 16th and 20th.
    private init?(text: UnsafeBufferPointer<UInt8>) {
        guard text.count == 36 else { return nil }
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        let isValid = withUnsafeMutableBytes(of: &uuid) { bytes in
            var digits = 0
            for (position, character) in text.enumerated() {
                if position == 8 || position == 13 || position == 18 || position == 23 {
                    guard character == UInt8(ascii: "-") else { return false }
                } else {
                    guard let digit = Self.hexadecimalDigit(character) else { return false }
                    bytes[digits / 2] = bytes[digits / 2] << 4 | digit
                    digits += 1
                }
            }
            return true
        }
        guard isValid else { return nil }
        self.init(uuid: uuid)
    }

    private static func hexadecimalDigit(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
