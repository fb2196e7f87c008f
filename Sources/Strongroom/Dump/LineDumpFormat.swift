/// A format that prints one line for each value and a paragraph for each row, like the `line` mode of SQLite's shell.
///
/// ```text
///  name = Arthur
/// score = 500
/// ```
///
/// Source: <https://www.sqlite.org/cli.html#changing_output_formats>.
public struct LineDumpFormat: DumpFormat, Sendable {
    /// The text for NULL.
    public var nullValue: String

    /// Creates the format.
    ///
    /// - parameter nullValue: the text for NULL. Default: an empty text.
    public init(nullValue: String = "") {
        self.nullValue = nullValue
    }

    /// Writes the current row of a statement.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        let names = statement.shownNames
        let width = names.map(\.count).max() ?? 0
        for (name, value) in zip(names, statement.shownValues) {
            let indentation = String(repeating: " ", count: width - name.count)
            stream.write("\(indentation)\(name) = \(value.plainText(nullValue: nullValue))\n")
        }
        stream.margin()
    }

    /// Ends the output of a statement.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
}

extension DumpFormat where Self == LineDumpFormat {
    /// A format that prints one line for each value, like the `line` mode of SQLite's shell.
    ///
    /// - parameter nullValue: the text for NULL.
    public static func line(nullValue: String = "") -> Self {
        LineDumpFormat(nullValue: nullValue)
    }
}
