import Foundation

extension DatabaseValue {
    /// The value as an SQL literal: what SQLite's `quote()` gives, which knows how many digits a number needs.
    ///
    /// <https://www.sqlite.org/lang_corefunc.html#quote>
    var sqlLiteral: String {
        switch storage {
        case .null: "NULL"
        case .int64(let value): value.description
        case .double(let value): value.sqlLiteral
        case .string(let value): value.sqlLiteral
        case .blob(let value): value.hexadecimalLiteral
        }
    }
}

extension String {
    /// The text as an SQL literal, in single quotes.
    var sqlLiteral: String {
        // SQL text ends at a NUL character.
        if utf8.contains(0) { return "CAST(\(Data(utf8).hexadecimalLiteral) AS TEXT)" }
        return "'" + replacing(ascii: "'", with: "''") + "'"
    }
}

extension Double {
    /// From SQLite 3.52 on, the short spelling has as many digits as a number needs.
    private static let shortSpelling = SQLite.versionNumber >= 3_052_000 ? "%!0.17g" : "%!0.15g"

    /// The shorter of SQLite's two spellings that reads back as the same number.
    fileprivate var sqlLiteral: String {
        if isInfinite { return self > 0 ? "9.0e+999" : "-9.0e+999" }
        let short = printedBySQLite(Double.shortSpelling)
        return Double(short) == self ? short : printedBySQLite("%!0.20e")
    }

    /// Returns the value as formatted by SQLite, whose formats include more than C's.
    /// <https://www.sqlite.org/printf.html>
    private func printedBySQLite(_ format: String) -> String {
        SQLite.text(of: self, format: format) ?? description
    }
}

extension Data {
    /// The bytes as an SQL literal: `X'00FF'`.
    var hexadecimalLiteral: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var text = Array("X'".utf8)
        text.reserveCapacity(2 * count + 3)
        for byte in self {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 0xF)])
        }
        text.append(UInt8(ascii: "'"))
        return String(decoding: text, as: UTF8.self)
    }
}
