import ArgumentParser
import Foundation
import Strongroom

/// How the rows of a query are written.
enum RowForm: String, ExpressibleByArgument, CaseIterable {
    case table, csv, jsonl
}

/// Writes rows to standard output: at once, except for a table, whose columns are as wide as their widest value.
struct RowWriter {
    private let form: RowForm
    private let columns: [String]
    private var lines: [[String]]

    init(_ form: RowForm, columns: [String]) {
        self.form = form
        self.columns = columns
        lines = [columns]
        if form == .csv { Console.output(Self.csv(columns)) }
    }

    mutating func add(_ values: [DatabaseValue.Storage]) {
        switch form {
        case .table: lines.append(values.map(Self.text))
        case .csv: Console.output(Self.csv(values.map(Self.text)))
        case .jsonl: Console.output(JSON.object(Array(zip(columns, values.map(Self.json)))).line)
        }
    }

    func end() {
        guard form == .table else { return }
        let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let rule = [widths.map { String(repeating: "-", count: $0) }]
        for line in lines.prefix(1) + rule + lines.dropFirst() {
            let cells = zip(line, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
            Console.output(cells.joined(separator: "  "))
        }
    }

    private static func text(_ value: DatabaseValue.Storage) -> String {
        switch value {
        case .null: ""
        case .int64(let value): String(value)
        case .double(let value): String(value)
        case .string(let value): value
        case .blob(let value): hexadecimal(value)
        }
    }

    private static func json(_ value: DatabaseValue.Storage) -> JSON {
        switch value {
        case .null: .null
        case .int64(let value): .integer(value)
        case .double(let value): .real(value)
        case .string(let value): .text(value)
        case .blob(let value): .text(hexadecimal(value))
        }
    }

    private static func hexadecimal(_ bytes: Data) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// RFC 4180.
    private static func csv(_ values: [String]) -> String {
        values.map { value in
            guard value.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return value }
            return "\"" + value.replacingOccurrences(of: "\"", with: "\"\"") + "\""
        }.joined(separator: ",")
    }
}
