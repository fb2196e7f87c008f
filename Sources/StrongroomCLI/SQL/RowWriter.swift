import ArgumentParser
import Foundation
import Strongroom

/// The output form of the rows of a query.
enum RowForm: String, ExpressibleByArgument, CaseIterable {
    case table, csv, json, jsonl
}

/// Writes rows to standard output one at a time, in constant memory.
///
/// The columns of a table are as wide as the widest value of the first rows. A wider value further down overflows.
struct RowWriter {
    /// The number of rows that determine the widths of a table's columns.
    static let measured = 200
    private static let bufferSize = 65_536

    private let form: RowForm
    private let columns: [String]
    private let hasHeader: Bool
    private var count = 0
    /// The first rows of a table.
    private var waiting: [[String]] = []
    private var widths: [Int] = []
    private var buffer = ""

    /// - parameter hasHeader: true to begin tables and comma-separated values with the names of the columns.
    init(_ form: RowForm, columns: [String], hasHeader: Bool = true) throws {
        (self.form, self.columns, self.hasHeader) = (form, columns, hasHeader)
        if form == .csv, hasHeader { try write(Self.csv(columns)) }
    }

    mutating func add(_ values: [DatabaseValue.Storage]) throws {
        switch form {
        case .table: try add(line: values.map { Self.visible(Self.text($0)) })
        case .csv: try write(Self.csv(values.map(Self.text)))
        case .jsonl: try write(object(values).line)
        case .json:
            buffer += count == 0 ? "[" : ",\n"
            try write(object(values).line, ending: "")
        }
        count += 1
    }

    private func object(_ values: [DatabaseValue.Storage]) -> JSON {
        .object(Array(zip(columns, values.map(Self.json))))
    }

    mutating func end() throws {
        if form == .table, widths.isEmpty { try settle() }
        if form == .json { buffer += count == 0 ? "[]\n" : "]\n" }
        try flush()
    }

    // MARK: - Tables

    private mutating func add(line: [String]) throws {
        guard widths.isEmpty else { return try write(cells: line) }
        waiting.append(line)
        if waiting.count == Self.measured { try settle() }
    }

    private mutating func settle() throws {
        let names = columns.map(Self.visible), shown = (hasHeader ? [names] : []) + waiting
        widths = names.indices.map { column in shown.map { $0[column].count }.max() ?? 0 }
        let head = hasHeader ? [names, widths.map { String(repeating: "-", count: $0) }] : []
        for line in head + waiting { try write(cells: line) }
        waiting = []
    }

    private mutating func write(cells: [String]) throws {
        let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
        try write(padded.joined(separator: "  "))
    }

    /// Escapes control characters, which a terminal would obey and which would break lines.
    private static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return text }
        let shown = text.unicodeScalars.map { scalar in
            scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
        }
        return shown.joined()
    }

    // MARK: - Output

    private mutating func write(_ line: String, ending: String = "\n") throws {
        buffer += line
        buffer += ending
        if buffer.utf8.count >= Self.bufferSize { try flush() }
    }

    private mutating func flush() throws {
        try Console.write(buffer, to: STDOUT_FILENO)
        buffer = ""
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

    /// RFC 4180.
    private static func csv(_ values: [String]) -> String {
        values.map { value in
            guard value.unicodeScalars.contains(where: { ",\"\r\n".unicodeScalars.contains($0) }) else { return value }
            return "\"" + value.replacing(ascii: "\"", with: "\"\"") + "\""
        }.joined(separator: ",")
    }
}
