/// The content table of a full-text table.
enum FullTextSource {
    case named(String)
    case synchronized(String)

    var name: String {
        switch self {
        case .named(let name), .synchronized(let name): name
        }
    }
}

/// The triggers that keep a full-text table up to date with the table that has its text.
///
/// They have GRDB's names, so that each library can drop the triggers of the other.
struct FullTextSynchronization {
    let tableName: String
    let contentTable: String
    let columns: [String]

    /// One trigger: its event and its actions.
    struct Trigger {
        let suffix: String
        let event: String
        let actions: [String]
    }

    private var index: String { tableName.quotedDatabaseIdentifier }

    /// Returns the triggers of an FTS4 index, which must read the old text before it is gone.
    ///
    /// <https://www.sqlite.org/fts3.html#_external_content_fts4_tables_>
    func fts4Triggers(_ db: Database) throws -> [Trigger] {
        let rowID = try rowIDName(db)
        let deletion = "DELETE FROM \(index) WHERE docid=old.\(rowID)"
        let insertion = "INSERT INTO \(index)(\(list([#""docid""#], ""))) VALUES(\(list(["new." + rowID], "new.")))"
        return [
            Trigger(suffix: "bu", event: "BEFORE UPDATE", actions: [deletion]),
            Trigger(suffix: "bd", event: "BEFORE DELETE", actions: [deletion]),
            Trigger(suffix: "au", event: "AFTER UPDATE", actions: [insertion]),
            Trigger(suffix: "ai", event: "AFTER INSERT", actions: [insertion]),
        ]
    }

    /// Returns the triggers of an FTS5 index, which pass the old text to it.
    /// <https://www.sqlite.org/fts5.html#external_content_tables>
    func fts5Triggers(_ db: Database) throws -> [Trigger] {
        let rowID = try rowIDName(db)
        let insertion = "INSERT INTO \(index)(\(list([#""rowid""#], ""))) VALUES (\(list(["new." + rowID], "new.")))"
        let former = list(["'delete'", "old." + rowID], "old.")
        let deletion = "INSERT INTO \(index)(\(list([index, #""rowid""#], ""))) VALUES(\(former))"
        return [
            Trigger(suffix: "ai", event: "AFTER INSERT", actions: [insertion]),
            Trigger(suffix: "ad", event: "AFTER DELETE", actions: [deletion]),
            Trigger(suffix: "au", event: "AFTER UPDATE", actions: [deletion, insertion]),
        ]
    }

    /// Fills the index, and creates the triggers.
    func install(_ triggers: [Trigger], _ db: Database, ifNotExists: Bool) throws {
        // With the triggers, the index is up to date.
        if ifNotExists, try db.triggerExists(Self.name(triggers[0].suffix, tableName)) { return }
        for trigger in triggers {
            let name = Self.name(trigger.suffix, tableName).quotedDatabaseIdentifier
            let actions = trigger.actions.map { "\n    \($0);" }.joined()
            try db.execute(
                sql: """
                    CREATE TRIGGER \(ifNotExists ? "IF NOT EXISTS " : "")\(name) \(trigger.event) \
                    ON \(contentTable.quotedDatabaseIdentifier) BEGIN\(actions)
                    END
                    """)
        }
        try db.execute(sql: "INSERT INTO \(index)(\(index)) VALUES('rebuild')")
    }

    static func name(_ suffix: String, _ tableName: String) -> String {
        "__\(tableName)_\(suffix)"
    }

    private func list(_ first: [String], _ prefix: String) -> String {
        (first + columns.map { prefix + $0.quotedDatabaseIdentifier }).joined(separator: ", ")
    }

    private func rowIDName(_ db: Database) throws -> String {
        try db.rowIDName(ofContentTable: contentTable).quotedDatabaseIdentifier
    }
}

extension Database {
    /// Returns the name of the rowid of a table that a full-text table indexes.
    func rowIDName(ofContentTable tableName: String) throws -> String {
        let key = try primaryKey(tableName)
        guard key.tableHasRowID else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    a full-text table can't index table \(tableName), which has no rowid: create it without \
                    .withoutRowID
                    """)
        }
        return key.rowIDColumn ?? "rowid"
    }

    func dropTriggers(ofTable tableName: String, _ suffixes: [String]) throws {
        for suffix in suffixes {
            let name = FullTextSynchronization.name(suffix, tableName).quotedDatabaseIdentifier
            try execute(sql: "DROP TRIGGER IF EXISTS \(name)")
        }
    }
}

extension String {
    /// A column's name as an argument of a full-text module: quoted, unless it is a plain word.
    var moduleArgument: String {
        let isWord =
            !isEmpty && allSatisfy { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
            && first?.isNumber == false
        return isWord ? self : quotedDatabaseIdentifier
    }
}
