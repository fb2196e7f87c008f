/// A format that prints one line for each row, like the `list` mode of SQLite's shell.
///
/// ```text
/// Arthur|500
/// Craig|200
/// ```
///
/// Source: <https://www.sqlite.org/cli.html#changing_output_formats>.
public struct ListDumpFormat: DumpFormat, Sendable {
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
        let texts = statement.shownValues.map { $0.plainText(nullValue: nullValue) }
        lines.write(texts, header: header ? statement.shownNames : nil, to: &stream)
        self.lines = lines
    }

    /// Ends the output of a statement.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        lines = nil
    }
}

extension DumpFormat where Self == ListDumpFormat {
    /// A format that prints one line for each row, like the `list` mode of SQLite's shell.
    ///
    /// - parameters:
    ///   - header: a Boolean value that indicates whether column names precede the rows.
    ///   - separator: the text between two values.
    ///   - nullValue: the text for NULL.
    public static func list(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
