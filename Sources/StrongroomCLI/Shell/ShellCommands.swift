import Foundation
import Strongroom

// Lines that begin with a dot.

extension ShellSession {
    static let help = """
        .backup FILE         an encrypted copy, with the same key, of what was committed
        .dump [TABLE]        the database as SQL
        .headers on|off      the names of columns above tables and in csv
        .help                this list
        .import [--skip N] FILE TABLE
                             rows of a CSV file without its first N lines; the next line names the columns of a new
                             table (with --write)
        .indexes [TABLE]     the names of indexes
        .mode FORM           how rows are written: table, csv, json or jsonl
        .quit                the end; so does Ctrl-D
        .read FILE           the statements in a file, until the first error
        .schema [TABLE]      the statements that made the tables
        .tables [PATTERN]    the names of tables and views, those like 'pattern%'
        .timer on|off        the time that each statement takes
        A name with spaces stands in single or double quotation marks: .read 'my file.sql'
        """

    mutating func run(dot line: String, _ db: Database) throws {
        let words = try Self.words(of: line), rest = Array(words.dropFirst())
        switch (words[0], rest.count) {
        case (".quit", 0), (".exit", 0): isOver = true
        case (".help", 0): try Console.output(Self.help)
        case (".tables", 0), (".tables", 1): try show(Self.namesOfTables, rest.first, db)
        case (".indexes", 0), (".indexes", 1): try show(Self.namesOfIndexes, rest.first, db)
        case (".schema", 0), (".schema", 1): try show(Self.schema, rest.first, db)
        case (".dump", 0), (".dump", 1):
            try seeing(db) { try SQLDump(db).write(rest.first) { try Console.output($0) } }
        case (".mode", 1): try setForm(rest[0])
        case (".headers", 1): hasHeader = try isOn(rest[0])
        case (".timer", 1): showsTime = try isOn(rest[0])
        case (".read", 1): try run(rest[0], db)
        case (".backup", 1): try makeBackup(rest[0], db)
        case (".import", 2): try importRows(rest[0], rest[1], skipping: 0, db)
        case (".import", 4) where rest[0] == "--skip" && Int(rest[1]).map { $0 >= 0 } == true:
            try importRows(rest[2], rest[3], skipping: Int(rest[1])!, db)
        default: throw Failure(.usage, "\(line) is not understood", remedy: ".help lists what there is")
        }
    }

    /// Returns the words of a line, which are separated by spaces. A word that begins with a quotation mark ends at the
    /// next one, as in SQLite's shell. In double quotation marks, a backslash stands before one that is in the word.
    private static func words(of line: String) throws -> [String] {
        var rest = line.unicodeScalars[...], words: [String] = []
        let isSpace = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
        while true {
            rest = rest.drop(while: isSpace)
            guard let first = rest.first else { return words }
            guard first == "'" || first == "\"" else {
                let word = rest.prefix { !isSpace($0) }
                words.append(String(word))
                rest = rest.dropFirst(word.count)
                continue
            }
            var word = String.UnicodeScalarView()
            rest.removeFirst()
            while let scalar = rest.popFirst(), scalar != first {
                let isEscape = scalar == "\\" && first == "\"" && (rest.first == "\"" || rest.first == "\\")
                word.append(isEscape ? rest.removeFirst() : scalar)
            }
            guard line.unicodeScalars[..<rest.startIndex].last == first else {
                throw Failure(.usage, "\(line) has a quotation mark that is not closed", remedy: "Close it")
            }
            words.append(String(word))
        }
    }

    private static let namesOfTables = """
        SELECT name FROM sqlite_master
        WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND (?1 IS NULL OR name LIKE ?1) ORDER BY name
        """

    private static let namesOfIndexes = """
        SELECT name FROM sqlite_master WHERE type = 'index' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND (?1 IS NULL OR lower(tbl_name) = lower(?1)) ORDER BY name
        """

    private static let schema = """
        SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
        AND (?1 IS NULL OR lower(tbl_name) = lower(?1)) ORDER BY tbl_name, type DESC, name
        """

    private func show(_ sql: String, _ name: String?, _ db: Database) throws {
        let lines = try seeing(db) { try String.fetchAll(db, sql: sql, arguments: [name]) }
        if !lines.isEmpty { try Console.output(lines.joined(separator: "\n")) }
    }

    private func isOn(_ word: String) throws -> Bool {
        guard word == "on" || word == "off" else {
            throw Failure(.usage, "\(word) is neither on nor off", remedy: "Say on or off")
        }
        return word == "on"
    }

    private mutating func setForm(_ name: String) throws {
        guard let new = RowForm(rawValue: name) else {
            throw Failure(
                .usage, "there is no form \(name)", remedy: "The forms are table, csv, json and jsonl")
        }
        form = new
    }

    private func makeBackup(_ path: String, _ db: Database) throws {
        guard !db.isInsideTransaction else {
            throw Failure(
                .other, file: path, "a transaction is open, whose changes the copy would not have",
                remedy: "End it with COMMIT or ROLLBACK")
        }
        try backUp(path)
        try Console.output("\(path): copied and checked.")
    }
}
