import Foundation
import Strongroom

/// A session of the shell: it reads statements and prints rows.
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
                try reportingErrors { try $0.run(line, db) }
                continue
            }
            statement += statement.isEmpty ? line : "\n" + line
            if SQLText.isBlank(statement) { statement = "" }
            guard SQLText.isComplete(statement) else { continue }
            let sql = statement
            statement = ""
            try reportingErrors { try $0.execute(sql, db) }
        }
        if !statement.isEmpty { try reportingErrors { try $0.execute(statement, db) } }
        if db.isInsideTransaction {
            throw Failure(
                .other, file: file, "the last transaction was not committed, and is undone",
                remedy: "End it with COMMIT")
        }
    }

    private mutating func nextLine(isContinued: Bool) throws -> String? {
        if isInteractive { try? Console.write(isContinued ? "       ...> " : "strongroom> ", to: STDERR_FILENO) }
        let line: String?
        do {
            line = try lines.next()
        } catch let failure as Failure where isWriting && failure.status == .interrupted {
            throw Failure(.interrupted, file: file, "interrupted; what was committed stays")
        }
        if line == nil, isInteractive { Console.message("") }
        return line
    }

    func execute(_ sql: String, _ db: Database) throws {
        let runner = SQLRunner(form: form, bindings: try Bindings([]))
        if isWriting { return try runner.run(sql, db) }
        try db.reading { try runner.run(sql, db, check: refuseTransaction) }
    }

    private func refuseTransaction(_ statement: Statement) throws {
        guard case .transaction(let word) = StatementKind(statement.sql) else { return }
        throw Failure(
            .other, file: file,
            "\(word) is refused without --write: each line sees the database as it is then",
            remedy: "Leave it out, or give --write")
    }

    /// Runs `body` on one state of the database: that of the open transaction, if any.
    func seeing<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.isInsideTransaction ? body() : db.reading(body)
    }

    /// Runs `body`. After an error, an interactive session continues, and others end.
    private mutating func reportingErrors(_ body: (inout ShellSession) throws -> Void) throws {
        do {
            try body(&self)
        } catch {
            var failure = Failure(any: error, file: file)
            if failure.isOfWriting, !isWriting {
                failure = Failure(
                    .other, file: file, "this writes; nothing was changed",
                    remedy: "Give --write if that is what you want")
            }
            guard !isInteractive || failure.status == .interrupted else {
                return Console.message("strongroom: \(failure)")
            }
            if isWriting { failure.addRemedy("What was committed before stays") }
            throw failure
        }
    }
}
