import Foundation
import Strongroom

/// A conversation: lines become statements, and statements rows.
struct ShellSession {
    let file: String
    let isWriting: Bool
    var form: RowForm
    let isInteractive = isatty(STDIN_FILENO) == 1
    var isOver = false
    private var lines: LineReader

    init(file: String, isWriting: Bool, form: RowForm, _ interruption: Interruption) {
        (self.file, self.isWriting, self.form, lines) = (file, isWriting, form, LineReader(interruption))
    }

    mutating func run(_ db: Database) throws {
        var statement = ""
        while !isOver, let line = try nextLine(isContinued: !statement.isEmpty) {
            if statement.isEmpty, line.hasPrefix(".") {
                try Self.telling(file, isInteractive) { try obey(line, db) }
                continue
            }
            statement += statement.isEmpty ? line : "\n" + line
            if SQLText.isBlank(statement) { statement = "" }
            guard SQLText.isComplete(statement) else { continue }
            let sql = statement
            statement = ""
            try Self.telling(file, isInteractive) { try execute(sql, db) }
        }
        if !statement.isEmpty { try Self.telling(file, isInteractive) { try execute(statement, db) } }
    }

    private mutating func nextLine(isContinued: Bool) throws -> String? {
        if isInteractive { try? Console.write(isContinued ? "       ...> " : "strongroom> ", to: STDERR_FILENO) }
        let line = try lines.next()
        if line == nil, isInteractive { Console.message("") }
        return line
    }

    func execute(_ sql: String, _ db: Database) throws {
        let runner = SQLRunner(form: form, bindings: try Bindings([]))
        if isWriting { try runner.run(sql, db) } else { try db.reading { try runner.run(sql, db) } }
    }

    /// People go on after an error; nobody else is there to see it.
    private static func telling(_ file: String, _ isInteractive: Bool, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            var failure = Failure(any: error, file: file)
            if failure.isOfWriting {
                failure = Failure(.other, file: file, "this writes; nothing was changed",
                                  remedy: "Give --write if that is what you want")
            }
            guard isInteractive, failure.status != .interrupted else { throw failure }
            Console.message("strongroom: \(failure)")
        }
    }
}
