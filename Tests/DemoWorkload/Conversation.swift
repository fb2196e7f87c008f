import Foundation
import Strongroom

/// One of several programs on one database: it writes what it reads from its standard input, and shows what others
/// have written.
enum Conversation {
    struct Message: Equatable, Sendable {
        let id: Int64
        let text: String
    }

    static func run(_ path: String, key: DatabaseKey, as name: String) throws {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key)
        configuration.observesExternalChanges = true
        configuration.busyMode = .timeout(10)
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE IF NOT EXISTS strongroom_demo (id INTEGER PRIMARY KEY, author TEXT, words TEXT)
                    """)
        }
        let observation = observe(pool, except: name)
        while let words = readLine() {
            try pool.write { db in
                let sql = "INSERT INTO strongroom_demo (author, words) VALUES (?, ?)"
                try db.execute(sql: sql, arguments: [name, words])
            }
        }
        observation.cancel()
        try pool.close()
    }

    private static func observe(_ pool: DatabasePool, except name: String) -> AnyDatabaseCancellable {
        // Used on the queue only.
        nonisolated(unsafe) var shown: Int64 = 0
        return
            ValueObservation
            .tracking { try messages($0, except: name) }
            .removeDuplicates()
            .start(in: pool, scheduling: .async(onQueue: DispatchQueue(label: "screen"))) { error in
                say("\(name) sees nothing any more: \(error)")
            } onChange: { messages in
                for message in messages where message.id > shown { say("\(name) sees  \(message.text)") }
                shown = max(shown, messages.last?.id ?? 0)
                if messages.isEmpty { say("\(name) is here") }
            }
    }

    private static func messages(_ db: Database, except name: String) throws -> [Message] {
        let sql = "SELECT id, author, words FROM strongroom_demo WHERE author <> ? ORDER BY id"
        return try Row.fetchAll(db, sql: sql, arguments: [name])
            .map { row in Message(id: row["id"], text: "\(row["author"] as String): \(row["words"] as String)") }
    }

    private static func say(_ line: String) {
        // To flush all streams would wait for the input, which is being read.
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
