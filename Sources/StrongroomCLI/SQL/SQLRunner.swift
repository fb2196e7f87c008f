import Foundation
import Strongroom

/// Runs statements one after the other, and writes their rows.
struct SQLRunner {
    var form: RowForm
    var bindings: Bindings
    var hasHeader = true

    /// - parameter check: refuses statements before they run.
    func run(_ sql: String, _ db: Database, check: (Statement) throws -> Void = { _ in }) throws {
        let statements = try db.allStatements(sql: sql)
        while let statement = try statements.next() {
            try check(statement)
            if !statement.parameterNames.isEmpty { try statement.setArguments(bindings.arguments(of: statement)) }
            try run(statement)
        }
    }

    private func run(_ statement: Statement) throws {
        guard statement.columnCount > 0 else { return try statement.execute() }
        var writer = try RowWriter(form, columns: statement.columnNames, hasHeader: hasHeader)
        let rows = try Row.fetchCursor(statement)
        var repaired = 0
        defer { Self.report(repaired) }
        do {
            while let row = try rows.next() {
                let values: [DatabaseValue.Storage] = row.databaseValues.map(\.storage)
                try writer.add(values)
                repaired += row.repairedCount(among: values)
            }
        } catch let error as DatabaseError where error.refusal?.rule == .rows {
            try writer.end()
            throw error
        }
        try writer.end()
    }
}

extension SQLRunner {
    private static func report(_ repaired: Int) {
        guard repaired > 0 else { return }
        Console.warning(
            "U+FFFD stands for bytes that are not UTF-8 in \(counted(repaired, "text")); hex(COLUMN) gives them")
    }
}

extension Row {
    /// Returns the number of texts among the row's values that are not UTF-8, which Swift has repaired.
    fileprivate func repairedCount(among values: [DatabaseValue.Storage]) -> Int {
        values.enumerated().count { index, value in
            guard case .string(let text) = value, text.unicodeScalars.contains("\u{FFFD}") else { return false }
            return !(self[index] as Data).elementsEqual(text.utf8)
        }
    }
}

/// The kind of a statement, by its first words.
enum StatementKind {
    case transaction(String)
    /// A statement that can't be part of a transaction, such as VACUUM and a change of the journal mode.
    case alone(String)
    case other

    init(_ sql: String) {
        let words = Self.words(sql)
        switch words.first {
        case let word? where Self.boundaries.contains(word) && !words.contains("TO"): self = .transaction(word)
        case "VACUUM"?: self = .alone("VACUUM")
        case "PRAGMA"? where Self.lonelyPragmas.contains(words[1]): self = .alone("PRAGMA \(words[1])")
        default: self = .other
        }
    }

    private static let boundaries: Set = ["BEGIN", "COMMIT", "END", "ROLLBACK"]
    private static let lonelyPragmas: Set = ["JOURNAL_MODE", "WAL_CHECKPOINT"]

    /// Returns the first words in capitals, without comments.
    private static func words(_ sql: String) -> [String] {
        let comment = #"--[^\n]*|/\*[\s\S]*?\*/"#
        let bare = sql.replacingOccurrences(of: comment, with: " ", options: .regularExpression).uppercased()
        let words = bare.split { !$0.isLetter && $0 != "_" }.prefix(4).map(String.init)
        guard words.first == "PRAGMA" else { return words }
        // The name, without that of a schema before it.
        let name = bare.drop { $0 != "P" }.dropFirst("PRAGMA".count).split { "=(;".contains($0) }.first ?? ""
        let last = String(name.split { $0 == "." || $0.isWhitespace }.last ?? "")
        return ["PRAGMA", last.trimmingCharacters(in: CharacterSet(charactersIn: "\"'`[]"))]
    }
}
