import Foundation

/// Rows in the format of RFC 4180. Quoted values may contain commas, quotes and newlines.
struct CSV {
    private(set) var rows: [[String]] = []

    init(_ content: Data) {
        var row: [String] = [], value: [UInt8] = [], isQuoted = false, wasQuote = false
        func text() -> String { String(decoding: value, as: UTF8.self) }
        // Spreadsheets begin their files with a byte order mark.
        for byte in content.dropFirst(content.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0) {
            switch byte {
            case UInt8(ascii: "\"") where isQuoted && !wasQuote: wasQuote = true
            case UInt8(ascii: "\"") where isQuoted:
                value.append(byte)
                wasQuote = false
            case _ where isQuoted && !wasQuote: value.append(byte)
            case UInt8(ascii: "\"") where value.isEmpty: isQuoted = true
            case UInt8(ascii: ","), UInt8(ascii: "\n"):
                row.append(text())
                (value, isQuoted, wasQuote) = ([], false, false)
                guard byte == UInt8(ascii: "\n") else { continue }
                rows.append(row)
                row = []
            case UInt8(ascii: "\r"): break
            default: value.append(byte)
            }
        }
        // The last line may lack its end.
        if !value.isEmpty || !row.isEmpty || isQuoted { rows.append(row + [text()]) }
    }
}
