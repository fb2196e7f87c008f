import Foundation
import Strongroom

/// One of several processes that share a database.
///
/// - `write PATH NAME COUNT` opens or creates the database, writes COUNT notes, and prints each when it is committed.
/// - `read PATH NAME COUNT` waits for the database, and reads until it has found COUNT notes.
/// - `migrate PATH NAME` migrates, without the opening lock.
/// - `mint PATH NAME KEY` waits for a line, opens or creates the database with the key in the file KEY, and writes.
/// - `mint-shared PATH NAME KEY` does the same with the opening lock.
/// - `create PATH WAY KEY` waits for a line, and creates the database in a way of its own.
/// - `time PATH NAME COUNT` does the same as `write`, and prints the duration of each write in microseconds.
/// - `commit PATH KEY-FILE COUNT RATE [checkpoint]` commits COUNT notes, RATE a second, and prints the time of each.
/// - `observe PATH KEY-FILE [blind]` prints when it sees the notes of others, or with `blind` only its own.
@main
struct SharingWorkload {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4 else { exit(2) }
        let (path, name) = (arguments[2], arguments[3])
        switch arguments[1] {
        case "write": try write(path, name, count: Int(arguments[4])!)
        case "time": try time(path, name, count: Int(arguments[4])!)
        case "read": try read(path, count: Int(arguments[4])!)
        case "migrate": try migrate(path)
        case "mint":
            try mint(path, name, FileKeyStore(path: arguments[4])) { configuration in
                try retryingBusy { try DatabasePool(path: path, configuration: configuration) }
            }
        case "mint-shared":
            try mint(path, name, FileKeyStore(path: arguments[4])) { try .openShared(path: path, configuration: $0) }
        case "create": try create(path, CreationWay(rawValue: name)!, FileKeyStore(path: arguments[4]))
        case "commit":
            commit(path, name, count: Int(arguments[4])!, rate: Int(arguments[5])!, checkpoints: arguments.count > 6)
        case "observe": observe(path, name, isBlind: arguments.last == "blind")
        default: exit(2)
        }
    }

    /// The configuration that processes start with: no delay, and a key derivation that costs little.
    static var configuration: Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.defaultTransactionKind = .immediate
        configuration.prepareDatabase { db in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
        }
        return configuration
    }

    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("author", .text).notNull()
                t.column("number", .integer).notNull()
                t.uniqueKey(["author", "number"])
            }
        }
        migrator.registerMigration("log") { db in
            try db.create(table: "migrationLog") { t in t.column("migration", .text) }
            try db.execute(sql: "INSERT INTO migrationLog VALUES ('log')")
        }
        migrator.registerMigration("last") { db in
            try db.execute(sql: "INSERT INTO migrationLog VALUES ('last')")
        }
        return migrator
    }

    static func mint(
        _ path: String, _ name: String, _ store: FileKeyStore, _ open: (Configuration) throws -> DatabasePool
    ) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.defaultTransactionKind = .immediate
        configuration.encryption = Encryption(key: .managed(by: store))
        _ = readLine()
        let pool = try open(configuration)
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS mark (author TEXT)")
            try db.execute(sql: "INSERT INTO mark VALUES (?)", arguments: [name])
        }
        try pool.close()
    }

    /// Repeats what fails with `SQLITE_BUSY`: SQLite waits for no lock where two processes turn on the write-ahead log
    /// of a new file simultaneously. <https://www.sqlite.org/c3ref/busy_handler.html>
    private static func retryingBusy<T>(_ body: () throws -> T) throws -> T {
        for _ in 0..<1000 {
            do {
                return try body()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                usleep(10_000)
            }
        }
        return try body()
    }

    static func write(_ path: String, _ name: String, count: Int) throws {
        let pool = try DatabasePool.openShared(path: path, configuration: configuration, migrator: migrator)
        for number in 1...count {
            try pool.write { db in
                try db.execute(sql: "INSERT INTO note (author, number) VALUES (?, ?)", arguments: [name, number])
            }
            print(number)
            fflush(nil)
        }
        try pool.close()
    }

    /// A note and a kilobyte at a time, without a rest: the log is moved into the file all the while.
    static func time(_ path: String, _ name: String, count: Int) throws {
        let pool = try DatabasePool.openShared(path: path, configuration: configuration, migrator: migrator) { pool in
            try pool.write {
                try $0.execute(sql: "CREATE TABLE IF NOT EXISTS ballast (id INTEGER PRIMARY KEY, content BLOB)")
            }
        }
        var durations: [UInt64] = []
        let began = DispatchTime.now().uptimeNanoseconds
        for number in 1...count {
            let start = DispatchTime.now().uptimeNanoseconds
            try pool.write { db in
                try db.execute(sql: "INSERT INTO note (author, number) VALUES (?, ?)", arguments: [name, number])
                try db.execute(sql: "INSERT INTO ballast (content) VALUES (randomblob(1000))")
            }
            durations.append((DispatchTime.now().uptimeNanoseconds - start) / 1000)
        }
        let total = (DispatchTime.now().uptimeNanoseconds - began) / 1000
        durations.sort()
        let share = [50, 90, 99].map { "p\($0) \(durations[(count - 1) * $0 / 100])" }.joined(separator: ", ")
        print("\(count) writes in \(total): \(share), most \(durations[count - 1])")
        try pool.close()
    }

    static func read(_ path: String, count: Int) throws {
        var opened: DatabasePool?
        while opened == nil {
            opened = try DatabasePool.openSharedReadOnly(path: path, configuration: configuration, migrator: migrator)
            if opened == nil { usleep(1000) }
        }
        guard let pool = opened else { return }
        var latest = 0
        while latest < count {
            let found = try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") ?? 0 }
            // Time goes on: what was seen stays.
            guard found >= latest else { exit(3) }
            latest = found
        }
        try pool.close()
    }

    static func migrate(_ path: String) throws {
        let pool = try DatabasePool(path: path, configuration: configuration)
        print("open")
        fflush(nil)
        // All begin simultaneously.
        _ = readLine()
        try migrator.migrate(pool)
        try pool.close()
    }
}
