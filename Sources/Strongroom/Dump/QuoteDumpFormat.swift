/// One line for each row, values as SQL literals, as the `quote` mode of the SQLite shell prints them.
///
/// ```text
/// 'Arthur',500
/// 'Craig',NULL
/// ```
///
/// Source: <https://www.sqlite.org/cli.html#changing_output_formats>.
public struct QuoteDumpFormat: DumpFormat, Sendable {
    /// Whether the first row of each statement stands below the names of the columns.
    public var header: Bool

    /// What stands between two values.
    public var separator: String

    private var lines: SeparatedLines?

    public init(header: Bool = false, separator: String = ",") {
        self.header = header
        self.separator = separator
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        var lines = lines ?? SeparatedLines(separator: separator)
        lines.write(
            statement.shownValues.map(\.sqlLiteral),
            header: header ? statement.shownNames.map(\.sqlLiteral) : nil,
            to: &stream)
        self.lines = lines
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        lines = nil
    }
}

extension DumpFormat where Self == QuoteDumpFormat {
    /// One line for each row, values as SQL literals.
    ///
    /// - parameters:
    ///   - header: whether the names of the columns come first.
    ///   - separator: what stands between two values.
    public static func quote(header: Bool = false, separator: String = ",") -> Self {
        QuoteDumpFormat(header: header, separator: separator)
    }
}
