import Foundation

/// One line for each row, for human eyes: blobs that are no text appear as UUIDs where they are as long as one, or else
/// as hexadecimal SQL literals.
///
/// ```text
/// Arthur|500
/// Craig|200
/// ```
public struct DebugDumpFormat: DumpFormat, Sendable {
    /// A Boolean value that indicates whether the names of the columns precede the rows of a statement.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    /// The text for NULL.
    public var nullValue: String

    private var lines: SeparatedLines?

    /// Creates the format.
    ///
    /// - parameters:
    ///   - header: a Boolean value that indicates whether column names precede the rows. Default: false.
    ///   - separator: the text between two values.
    ///   - nullValue: the text for NULL. Default: an empty text.
    public init(header: Bool = false, separator: String = "|", nullValue: String = "") {
        self.header = header
        self.separator = separator
        self.nullValue = nullValue
    }

    /// Writes the current row of a statement.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        var lines = lines ?? SeparatedLines(separator: separator)
        lines.write(statement.shownValues.map(text), header: header ? statement.shownNames : nil, to: &stream)
        self.lines = lines
    }

    /// Ends the output of a statement.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        lines = nil
    }

    private func text(_ value: DatabaseValue) -> String {
        if case .blob(let data) = value.storage {
            return String(data: data, encoding: .utf8) ?? UUID.fromDatabaseValue(value)?.uuidString
                ?? data.hexadecimalLiteral
        }
        return value.plainText(nullValue: nullValue)
    }
}

extension DumpFormat where Self == DebugDumpFormat {
    /// A format that prints one line for each row, for people.
    ///
    /// - parameters:
    ///   - header: a Boolean value that indicates whether column names precede the rows.
    ///   - separator: the text between two values.
    ///   - nullValue: the text for NULL.
    public static func debug(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        DebugDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
