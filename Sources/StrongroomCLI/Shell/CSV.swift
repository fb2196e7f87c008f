import Foundation

/// Rows in the format of RFC 4180. Quoted values may contain commas, quotes and newlines.
struct CSV {
    struct Row {
        /// The line on which the row begins, from 1.
        let line: Int
        var values: [String] = []
    }

    private(set) var rows: [Row] = []
    /// The line of a quote that is not closed before the end.
    private(set) var unterminatedQuote: Int?

    init(_ content: Data) {
        var line = 1, quoteLine = 1, row = Row(line: 1), value: [UInt8] = [], isQuoted = false, wasQuote = false
        func text() -> String { String(decoding: value, as: UTF8.self) }
        // Spreadsheets begin their files with a byte order mark.
        for byte in content.dropFirst(content.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) {
            if byte == UInt8(ascii: "\n") { line += 1 }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && !wasQuote: wasQuote = true
            case UInt8(ascii: "\"") where isQuoted:
                value.append(byte)
                wasQuote = false
            case _ where isQuoted && !wasQuote: value.append(byte)
            case UInt8(ascii: "\"") where value.isEmpty: (isQuoted, quoteLine) = (true, line)
            case UInt8(ascii: ","), UInt8(ascii: "\n"):
                row.values.append(text())
                (value, isQuoted, wasQuote) = ([], false, false)
                guard byte == UInt8(ascii: "\n") else { continue }
                rows.append(row)
                row = Row(line: line)
            case UInt8(ascii: "\r"): break
            default: value.append(byte)
            }
        }
        if isQuoted, !wasQuote { unterminatedQuote = quoteLine }
        // The last line may lack its end.
        if !value.isEmpty || !row.values.isEmpty || isQuoted {
            rows.append(Row(line: row.line, values: row.values + [text()]))
        }
    }
}
