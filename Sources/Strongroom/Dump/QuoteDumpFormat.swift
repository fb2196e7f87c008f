/// A format that prints one line for each row with values as SQL literals, like the `quote` mode of SQLite's shell.
///
/// ```text
/// 'Arthur',500
/// 'Craig',NULL
/// ```
///
/// Source: <https://www.sqlite.org/cli.html#changing_output_formats>.
public struct QuoteDumpFormat: DumpFormat, Sendable {
    /// A Boolean value that indicates whether the names of the columns precede the rows of a statement.
    public var header: Bool

    /// The text between two values.
    public var separator: String

    private var lines: SeparatedLines?

    /// Creates the format.
    ///
    /// - parameters:
    ///   - header: a Boolean value that indicates whether column names precede the rows. Default: false.
    ///   - separator: the text between two values.
    public init(header: Bool = false, separator: String = ",") {
        self.header = header
        self.separator = separator
    }

    /// Writes the current row of a statement.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        var lines = lines ?? SeparatedLines(separator: separator)
        lines.write(
            statement.shownValues.map(\.sqlLiteral),
            header: header ? statement.shownNames.map(\.sqlLiteral) : nil,
            to: &stream)
        self.lines = lines
    }

    /// Ends the output of a statement.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        lines = nil
    }
}

extension DumpFormat where Self == QuoteDumpFormat {
    /// A format that prints one line for each row, with values as SQL literals.
    ///
    /// - parameters:
    ///   - header: a Boolean value that indicates whether column names precede the rows.
    ///   - separator: the text between two values.
    public static func quote(header: Bool = false, separator: String = ",") -> Self {
        QuoteDumpFormat(header: header, separator: separator)
    }
}
