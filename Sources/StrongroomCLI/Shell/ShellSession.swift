import Foundation
import Strongroom

/// A session of the shell: it reads statements and prints rows.
struct ShellSession {
    let file: String
    let isWriting: Bool
    var form: RowForm
    var hasHeader = true
    var showsTime = false
    var isOver = false
    let interruption: Interruption
    /// Makes a copy of the database, for `.backup`.
    let backUp: (String) throws -> Void
    private var input: ShellInput

    /// True if a person types: after an error the session goes on, and Ctrl-C ends a statement only.
    var isInteractive: Bool { if case .terminal = input { true } else { false } }

    init(
        file: String, isWriting: Bool, form: RowForm, keepsHistory: Bool, _ interruption: Interruption,
        backUp: @escaping (String) throws -> Void
    ) {
        (self.file, self.isWriting, self.form, self.interruption) = (file, isWriting, form, interruption)
        self.backUp = backUp
        input = ShellInput(interruption, keepsHistory: keepsHistory)
    }

    mutating func run(_ db: Database) throws {
        try runInput(db)
        if db.isInsideTransaction {
            throw Failure(
                .other, file: file, "the last transaction was not committed, and is undone",
                remedy: "End it with COMMIT")
        }
    }

    /// Runs the statements in a file, and stops at the first error.
    mutating func run(_ path: String, _ db: Database) throws {
        guard depth < Self.deepest else {
            throw Failure(.other, file: path, "files read each other in a circle", remedy: "Leave out one .read")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(errno: errno, file: path, "it cannot be read", remedy: "Check its permissions")
        }
        defer { close(descriptor) }
        let former = input
        (input, depth) = (.stream(LineReader(interruption, descriptor: descriptor)), depth + 1)
        defer { (input, depth) = (former, depth - 1) }
        do {
            try runInput(db)
        } catch var failure as Failure {
            if failure.status != .interrupted { failure.happened = "\(path), line \(input.count): \(failure.happened)" }
            throw failure
        }
    }

    private var depth = 0
    private static let deepest = 16

    private mutating func runInput(_ db: Database) throws {
        var statement = ""
        while !isOver {
            let line: String
            switch try nextLine(isContinued: !statement.isEmpty) {
            case .text(let text): line = text
            case .end: return try runRest(statement, db)
            case .interrupted:
                statement = ""
                continue
            }
            if statement.isEmpty, line.utf8.first == UInt8(ascii: ".") {
                // In SQL, a carriage return is whitespace, or a part of a literal.
                let command = line.utf8.last == UInt8(ascii: "\r") ? String(line.unicodeScalars.dropLast()) : line
                input.remember(command)
                try reportingErrors { try $0.run(dot: command, db) }
                continue
            }
            statement += statement.isEmpty ? line : "\n" + line
            if SQLText.isBlank(statement) { statement = "" }
            // Looking at the whole statement after each line would take quadratic time.
            guard line.utf8.contains(UInt8(ascii: ";")) || line.contains("*/"), SQLText.isComplete(statement) else {
                continue
            }
            let sql = statement
            statement = ""
            input.remember(sql)
            try reportingErrors { try $0.execute(sql, db) }
        }
    }

    /// Runs a statement without a semicolon, at the end.
    private mutating func runRest(_ statement: String, _ db: Database) throws {
        if !statement.isEmpty { try reportingErrors { try $0.execute(statement, db) } }
    }

    private mutating func nextLine(isContinued: Bool) throws -> LineEditor.Outcome {
        let outcome: LineEditor.Outcome
        do {
            outcome = try input.next(isContinued ? "       ...> " : "strongroom> ")
        } catch let failure as Failure where failure.status == .interrupted {
            throw isWriting ? Failure(.interrupted, file: file, "interrupted; what was committed stays") : failure
        }
        if case .interrupted = outcome {
            // The editor does not show it.
            Console.message("^C")
            try endUnlessControlC()
        }
        if case .end = outcome, isInteractive { Console.message("") }
        return outcome
    }

    /// Throws if a signal other than that of Ctrl-C has arrived.
    private func endUnlessControlC() throws {
        let signals = interruption.take()
        guard signals.isSubset(of: [SIGINT]) else {
            throw Failure(.interrupted, file: file, "interrupted; what was committed stays")
        }
    }

    func execute(_ sql: String, _ db: Database) throws {
        let runner = SQLRunner(form: form, bindings: try Bindings([]), hasHeader: hasHeader)
        let start = DispatchTime.now().uptimeNanoseconds
        try db.stopping(by: interruption.check) {
            if isWriting { return try runner.run(sql, db) }
            try db.reading { try runner.run(sql, db, check: refuseTransaction) }
        }
        guard showsTime else { return }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
        Console.message("\((seconds * 1000).rounded() / 1000) s")
    }

    private func refuseTransaction(_ statement: Statement) throws {
        guard case .transaction(let word) = StatementKind(statement.sql) else { return }
        throw Failure(
            .other, file: file,
            "\(word) is refused without --write: each line sees the database as it is then",
            remedy: "Leave it out, or give --write")
    }

    /// Runs `body` on one state of the database: that of the open transaction, if any. A signal stops it.
    func seeing<T>(_ db: Database, _ body: () throws -> T) throws -> T {
        try db.stopping(by: interruption.check) { try db.isInsideTransaction ? body() : db.reading(body) }
    }

    /// Runs `body`. After an error or Ctrl-C, an interactive session continues, and others end.
    private mutating func reportingErrors(_ body: (inout ShellSession) throws -> Void) throws {
        do {
            try body(&self)
        } catch {
            var failure = Failure(any: error, file: file)
            if failure.isOfWriting, !isWriting {
                failure = Failure(.other, file: file, "this writes", remedy: "Give --write if that is what you want")
            }
            if isInteractive {
                guard failure.status == .interrupted else { return Console.message("strongroom: \(failure)") }
                Console.message("")
                try endUnlessControlC()
                return Console.message("strongroom: interrupted\(isWriting ? "; the statement is undone" : "").")
            }
            if isWriting, depth == 0 { failure.addRemedy("What was committed before stays") }
            throw failure
        }
    }
}

/// The origin of a session's lines.
enum ShellInput {
    case terminal(LineEditor)
    case stream(LineReader)

    /// Lines are typed if standard input is a terminal.
    init(_ interruption: Interruption, keepsHistory: Bool) {
        if isatty(STDIN_FILENO) == 1,
            let editor = LineEditor(interruption, history: keepsHistory ? ShellHistory() : nil)
        {
            self = .terminal(editor)
        } else {
            self = .stream(LineReader(interruption))
        }
    }

    /// The number of lines that were read from a stream.
    var count: Int { if case .stream(let reader) = self { reader.count } else { 0 } }

    mutating func next(_ prompt: String) throws -> LineEditor.Outcome {
        switch self {
        case .terminal(let editor): return editor.read(prompt)
        case .stream(var reader):
            defer { self = .stream(reader) }
            return try reader.next().map { .text($0) } ?? .end
        }
    }

    func remember(_ entry: String) {
        if case .terminal(let editor) = self { editor.remember(entry) }
    }
}
