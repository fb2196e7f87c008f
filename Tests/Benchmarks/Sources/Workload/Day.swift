/// A day in the life of an application: it keeps notes.
public enum Day {
    public enum Step: String, CaseIterable, Sendable {
        case coldStart, list, search, smallWrites, importing, backup, passphraseChange, background

        public var title: String {
            switch self {
            case .coldStart: "cold start with a passphrase, to the first screen"
            case .list: "a list of 5,000 notes, joined and grouped"
            case .search: "a search as typed, \(Day.typed.count) letters"
            case .smallWrites: "500 small writes from four tasks, beside three observations"
            case .importing: "an import of 100,000 rows"
            case .backup: "a backup"
            case .passphraseChange: "a change of the passphrase"
            case .background: "to the background, in the middle of a write"
            }
        }

        /// The required result of the step.
        public var expectedCheck: Int64 {
            switch self {
            case .coldStart: Int64(Day.notebookCount + Day.screenSize)
            case .list: Int64(Day.listSize) * 2
            case .search: Int64(Day.typed.count * Day.screenSize)
            case .smallWrites: Int64(Day.writeCount * 2 + Day.noteCount / 10)
            case .importing: Int64(Day.importCount)
            case .backup: Int64(Day.importCount + Day.noteCount)
            case .passphraseChange: Int64(Day.noteCount)
            case .background: Int64(Day.suspensionCount)
            }
        }
    }

    public static let passphrase = "correct horse battery staple"
    public static let newPassphrase = "a staple for the next horse"
    public static let noteCount = 20_000
    public static let notebookCount = 40
    public static let listSize = 5_000
    public static let screenSize = 50
    /// Two words that are in some notes, typed letter by letter.
    public static let typed = "cebaba diguba"
    public static let writeCount = 500
    public static let importCount = 100_000
    public static let suspensionCount = 10
    /// The number of rows that a write has inserted when it is suspended.
    public static let rowsBeforeSuspension = 2_000

    /// The notes that are written, none of which is a favorite or in the first notebook.
    public static func writtenNote(_ n: Int) -> Int64 { Int64(1 + 20 * n) }

    /// The line of a program's answer for a step.
    public static func line(_ step: Step, check: Int64, _ usage: Usage) -> String {
        let values = Usage.Figure.allCases.map { String(usage.figures[$0]!) }
        return ([step.rawValue, String(check)] + values).joined(separator: " ")
    }

    /// The database at the beginning of the day.
    public static let database = """
        BEGIN;
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        INSERT INTO grdb_migrations VALUES ('notes');
        CREATE TABLE notebook (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
        CREATE TABLE note (
            id INTEGER PRIMARY KEY, notebookId INTEGER NOT NULL REFERENCES notebook,
            authorId INTEGER NOT NULL REFERENCES author, title TEXT NOT NULL, body TEXT NOT NULL,
            createdAt DATETIME NOT NULL, updatedAt DATETIME NOT NULL, isFavorite BOOLEAN NOT NULL);
        CREATE TABLE noteTag (
            noteId INTEGER NOT NULL REFERENCES note, name TEXT NOT NULL, PRIMARY KEY (noteId, name));
        CREATE TABLE contact (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, city TEXT, phone TEXT,
            createdAt DATETIME NOT NULL);
        \(fill("notebook", notebookCount, "'Notebook no. ' || i"))
        \(fill("author", 200, "'Author no. ' || i"))
        \(fill("note", noteCount, """
            2 + i % \(notebookCount - 1), 1 + i % 200, \(words(5)), \(words(60)), \(date), \(date), i % 10 = 0
            """))
        \(fill("noteTag", noteCount, "'tag ' || (i % 7)"))
        \(fill("noteTag", noteCount, "'topic ' || (i % 11)"))
        CREATE INDEX noteOfNotebook ON note (notebookId);
        CREATE INDEX noteByUpdate ON note (updatedAt);
        CREATE INDEX favoriteNote ON note (isFavorite);
        CREATE VIRTUAL TABLE noteText USING fts5(title, body, content = 'note', content_rowid = 'id');
        INSERT INTO noteText (noteText) VALUES ('rebuild');
        CREATE TRIGGER noteTextInsert AFTER INSERT ON note BEGIN \(addText) END;
        CREATE TRIGGER noteTextDelete AFTER DELETE ON note BEGIN \(removeText) END;
        CREATE TRIGGER noteTextUpdate AFTER UPDATE ON note BEGIN \(removeText) \(addText) END;
        COMMIT;
        """

    private static let addText = "INSERT INTO noteText (rowid, title, body) VALUES (new.id, new.title, new.body);"
    private static let removeText = """
        INSERT INTO noteText (noteText, rowid, title, body) VALUES ('delete', old.id, old.title, old.body);
        """
    private static let date = "strftime('%Y-%m-%d %H:%M:%f', 1700000000 + i * 60, 'unixepoch')"

    /// Inserts rows with the numbers `i` from 1 on and `values` of them.
    private static func fill(_ table: String, _ count: Int, _ values: String) -> String {
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO \(table) SELECT i, \(values) FROM n;
        """
    }

    /// Words of three syllables each, out of a thousand of which some are frequent, for the row `i`.
    private static func words(_ count: Int) -> String {
        let syllables = "'bacedifogulamenirosu'"
        return """
            (WITH RECURSIVE k(j) AS (SELECT 1 UNION ALL SELECT j + 1 FROM k WHERE j < \(count)),
            word(w) AS (SELECT ((i * 7919 + j * 104729) % 1000) * ((i * 31 + j * 1299709) % 1000) / 1000 FROM k)
            SELECT group_concat(substr(\(syllables), 1 + w % 10 * 2, 2) || substr(\(syllables), 1 + w / 10 % 10 * 2, 2)
            || substr(\(syllables), 1 + w / 100 * 2, 2), ' ') FROM word)
            """
    }
}
