import Foundation
import Strongroom

/// The database of the notes: what the rest of the application asks for.
struct NotesDatabase {
    private let pool: DatabasePool
    private let keys: WatchedKeyStore?

    /// Opens the database, creates it when there is none, and brings its schema up to date.
    init(path: String, passphrase: String) throws {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(passphrase))
        keys = nil
        pool = try DatabasePool(path: path, configuration: configuration)
        try Self.migrator.migrate(pool)
    }

    /// Does so with a managed key: the store keeps it, and the first opening makes it.
    init(path: String, keys: WatchedKeyStore) throws {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: keys))
        self.keys = keys
        pool = try DatabasePool(path: path, configuration: configuration)
        try Self.migrator.migrate(pool)
    }

    /// One migration for each version of the application that changed the schema. Those that were shipped never change.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notebooks and notes") { db in
            try db.create(table: "notebook") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique()
            }
            try db.create(table: "note") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("notebookID", .integer).notNull().indexed().references("notebook", onDelete: .cascade)
                t.column("text", .text).notNull()
                t.column("tags", .jsonText).notNull()
                t.column("modified", .datetime).notNull()
            }
        }
        migrator.registerMigration("pins") { db in
            try db.alter(table: "note") { t in
                t.add(column: "isPinned", .boolean).notNull().defaults(to: false)
            }
        }
        return migrator
    }

    // MARK: - Reading

    /// The notes of a notebook: pinned ones first, then the latest.
    func notes(in notebook: String) async throws -> [Note] {
        try await pool.read { db in
            guard let notebook = try Notebook.filter(Column("name") == notebook).fetchOne(db) else { return [] }
            return
                try Note
                .filter(Note.Columns.notebookID == notebook.id)
                .order(Note.Columns.isPinned.desc, Note.Columns.modified.desc, Column("id").desc)
                .fetchAll(db)
        }
    }

    /// The notes that contain a word.
    func search(_ word: String) async throws -> [Note] {
        try await pool.read { db in
            try Note.filter(Note.Columns.text.like("%\(word)%")).order(Column("id")).fetchAll(db)
        }
    }

    /// The notebooks and their sizes: now, and after each change.
    func summaries() -> AsyncValueObservation<[NotebookSummary]> {
        ValueObservation
            .tracking { db in try NotebookSummary.all().fetchAll(db) }
            .removeDuplicates()
            .values(in: pool)
    }

    // MARK: - Writing

    /// Adds a note, and the notebook when there is none of that name: both or neither.
    func add(_ text: String, tags: [String] = [], to name: String) async throws -> Note {
        try await pool.write { db in
            var notebook = try Notebook.filter(Column("name") == name).fetchOne(db) ?? Notebook(name: name)
            if notebook.id == nil { try notebook.insert(db) }
            return try Note(notebookID: notebook.id!, text: text, tags: tags, modified: Date()).inserted(db)
        }
    }

    /// Changes the text of a note.
    func edit(id: Int64, _ text: String) async throws {
        try await pool.write { db in
            var note = try Note.find(db, id: id)
            try note.updateChanges(db) {
                $0.text = text
                $0.modified = Date()
            }
        }
    }

    func pin(id: Int64) async throws {
        try await pool.write { db in
            var note = try Note.find(db, id: id)
            note.isPinned = true
            try note.update(db, columns: [Note.Columns.isPinned])
        }
    }

    /// Returns true if there was such a note.
    func delete(id: Int64) async throws -> Bool {
        try await pool.write { db in try Note.deleteOne(db, id: id) }
    }

    /// Deletes a notebook, and its notes with it.
    func deleteNotebook(_ name: String) async throws {
        _ = try await pool.write { db in try Notebook.filter(Column("name") == name).deleteAll(db) }
    }

    // MARK: - Encryption

    /// Encrypts everything anew. From then on only the new passphrase opens the database.
    func changePassphrase(to passphrase: String) async throws {
        try await pool.rotateKey(to: .passphrase(passphrase))
    }

    /// Makes a new key. At every moment the store has the one that opens the database.
    func renewKey() async throws {
        guard let keys else { preconditionFailure("renewKey needs a key store") }
        try await pool.rotateKey(to: .managed(by: keys)) { if !$0.isCompleted { keys.reached(.rotating) } }
    }

    /// Returns the problems of the file. Blocks until every page is checked.
    func problems() throws -> [String] {
        let report = try pool.checkIntegrity()
        let pages = (report.unauthenticPages ?? []).map { "page \($0) was altered" }
        return pages + report.structureProblems + report.foreignKeyProblems
    }

    func close() throws {
        try pool.close()
    }
}
