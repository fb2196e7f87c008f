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
    /// The first line of a row with a value that is not UTF-8.
    private(set) var malformedRow: Int?

    init(_ content: Data) {
        var line = 1, quoteLine = 1, row = Row(line: 1), value: [UInt8] = [], isQuoted = false, wasQuote = false
        var malformed: Int?, wasReturn = false
        func endValue() {
            if let text = String(validatingUTF8Bytes: value) {
                row.values.append(text)
            } else {
                malformed = malformed ?? row.line
            }
            (value, isQuoted, wasQuote) = ([], false, false)
        }
        // Spreadsheets begin their files with a byte order mark.
        for byte in content.dropFirst(content.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) {
            let isEndOfReturn = wasReturn && byte == UInt8(ascii: "\n")
            wasReturn = byte == UInt8(ascii: "\r")
            if isEndOfReturn, !isQuoted || wasQuote { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") && (!isQuoted || wasQuote) { line += 1 }
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && !wasQuote: wasQuote = true
            case UInt8(ascii: "\"") where isQuoted:
                value.append(byte)
                wasQuote = false
            case _ where isQuoted && !wasQuote: value.append(byte)
            case UInt8(ascii: "\"") where value.isEmpty: (isQuoted, quoteLine) = (true, line)
            case UInt8(ascii: ","): endValue()
            // Some programs end lines with a carriage return alone.
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                endValue()
                rows.append(row)
                row = Row(line: line)
            default: value.append(byte)
            }
        }
        if isQuoted, !wasQuote { unterminatedQuote = quoteLine }
        // The last line may lack its end.
        if !value.isEmpty || !row.values.isEmpty || isQuoted {
            endValue()
            rows.append(row)
        }
        malformedRow = malformed
    }
}
