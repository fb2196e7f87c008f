/// One line for each row, as the `list` mode of the SQLite shell prints them.
///
/// ```text
/// Arthur|500
/// Craig|200
/// ```
///
/// Source: <https://www.sqlite.org/cli.html#changing_output_formats>.
public struct ListDumpFormat: DumpFormat, Sendable {
    /// Whether the first row of each statement stands below the names of the columns.
    public var header: Bool

    /// What stands between two values.
    public var separator: String

    /// What stands for NULL.
    public var nullValue: String

    private var lines: SeparatedLines?

    public init(header: Bool = false, separator: String = "|", nullValue: String = "") {
        self.header = header
        self.separator = separator
        self.nullValue = nullValue
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        var lines = lines ?? SeparatedLines(separator: separator)
        let texts = statement.shownValues.map { $0.plainText(nullValue: nullValue) }
        lines.write(texts, header: header ? statement.shownNames : nil, to: &stream)
        self.lines = lines
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        lines = nil
    }
}

extension DumpFormat where Self == ListDumpFormat {
    /// One line for each row, as the `list` mode of the SQLite shell prints them.
    ///
    /// - parameters:
    ///   - header: whether the names of the columns come first.
    ///   - separator: what stands between two values.
    ///   - nullValue: what stands for NULL.
    public static func list(header: Bool = false, separator: String = "|", nullValue: String = "") -> Self {
        ListDumpFormat(header: header, separator: separator, nullValue: nullValue)
    }
}
