/// One line for each value, as the `line` mode of the SQLite shell prints them; rows are paragraphs.
///
/// ```text
///  name = Arthur
/// score = 500
/// ```
///
/// Source: <https://www.sqlite.org/cli.html#changing_output_formats>.
public struct LineDumpFormat: DumpFormat, Sendable {
    /// What stands for NULL.
    public var nullValue: String

    public init(nullValue: String = "") {
        self.nullValue = nullValue
    }

    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        let names = statement.shownNames
        let width = names.map(\.count).max() ?? 0
        for (name, value) in zip(names, statement.shownValues) {
            let indentation = String(repeating: " ", count: width - name.count)
            stream.write("\(indentation)\(name) = \(value.plainText(nullValue: nullValue))\n")
        }
        stream.margin()
    }

    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
}

extension DumpFormat where Self == LineDumpFormat {
    /// One line for each value, as the `line` mode of the SQLite shell prints them.
    ///
    /// - parameter nullValue: what stands for NULL.
    public static func line(nullValue: String = "") -> Self {
        LineDumpFormat(nullValue: nullValue)
    }
}
