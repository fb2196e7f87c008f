import Foundation

// Rows of values as one argument, for statements with too few arguments for all values.

extension SQLWriter {
    /// Returns true if the arguments leave half of the statement's maximum to its other parts.
    private func hasRoom(for count: Int) -> Bool {
        arguments.values.count + count <= destination.maximumStatementArgumentCount / 2
    }

    /// Writes the elements of a list without its parentheses, or a query for them if there are too many.
    mutating func append(list elements: [SQLExpression], separator: String) throws {
        if hasRoom(for: elements.count) { return try append(elements, separator: separator) { try $0.write(to: &$1) } }
        var values: [[DatabaseValue]] = []
        var others: [SQLExpression] = []
        for element in elements {
            if case .value(let value) = element.node { values.append([value]) } else { others.append(element) }
        }
        append(rows: values, columnCount: 1)
        guard !others.isEmpty else { return }
        append(" UNION ALL VALUES ")
        try append(others, separator: ", ") { element, writer in
            writer.append("(")
            try element.write(to: &writer)
            writer.append(")")
        }
    }

    /// Writes a query for rows of values. Its columns have no affinity, like the elements of a list.
    ///
    /// Source: <https://www.sqlite.org/json1.html#jeach>.
    mutating func append(rows: [[DatabaseValue]], columnCount: Int) {
        let rows = ValueRows(rows)
        append("SELECT ")
        append(Array(0..<columnCount), separator: ", ") { column, writer in
            let value = "json_extract(value, '$[\(column)]')"
            if rows.bytes.isEmpty { return writer.append(value) }
            writer.append("CASE json_type(value, '$[\(column)]') WHEN 'array' THEN substr(")
            writer.append(rows.bytes.databaseValue)
            writer.append(
                ", json_extract(value, '$[\(column)][0]'), json_extract(value, '$[\(column)][1]')) ELSE \(value) END")
        }
        append(" FROM json_each(")
        append(rows.json.databaseValue)
        append(")")
    }
}

/// Rows of values as JSON, and the bytes of their blobs, for which the JSON contains positions and lengths.
private struct ValueRows {
    private var text: [UInt8] = []
    private(set) var bytes = Data()

    var json: String { String(decoding: text, as: UTF8.self) }

    init(_ rows: [[DatabaseValue]]) {
        appendList(rows) { row, json in
            json.appendList(row) { value, json in json.append(value) }
        }
    }

    private mutating func appendList<Element>(_ elements: [Element], _ append: (Element, inout ValueRows) -> Void) {
        text.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            append(element, &self)
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func append(_ value: DatabaseValue) {
        switch value.storage {
        case .null: append("null")
        case .int64(let number): append(number.description)
        // SQLite reads a number beyond the greatest double as infinite.
        case .double(let number): append(number.isInfinite ? number < 0 ? "-9e999" : "9e999" : number.description)
        case .string(let string): append(quoted: string)
        case .blob(let data):
            append("[\(bytes.count + 1),\(data.count)]")
            bytes += data
        }
    }

    private mutating func append(_ json: String) {
        text += json.utf8
    }

    private mutating func append(quoted string: String) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case ..<0x20: append("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
