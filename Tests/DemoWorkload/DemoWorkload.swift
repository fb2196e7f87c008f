import Foundation
import Strongroom

/// A program at work on an encrypted database, for `scripts/demo`: a writer and several readers never pause while the
/// key is rotated under them, and afterwards nothing is missing.
@main
struct DemoWorkload {
    static func main() throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, arguments[1] == "talk" {
            return try Conversation.run(arguments[2], key: key(inFile: arguments[3]), as: arguments[4])
        }
        guard arguments.count == 5 else {
            print("usage: DemoWorkload CLEAR ENCRYPTED PASSPHRASE-FILE NEW-PASSPHRASE-FILE")
            print("       DemoWorkload talk ENCRYPTED PASSPHRASE-FILE NAME")
            exit(2)
        }
        let expected = try DatabaseQueue(path: arguments[1], configuration: readonly()).read(rowCounts)
        let queue = try open(arguments[2], key: try key(inFile: arguments[3]))
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE strongroom_demo (n INTEGER PRIMARY KEY, word TEXT NOT NULL)")
        }

        let tally = Tally()
        let threads =
            [Thread { write(to: queue, tally) }]
            + (1...3).map { _ in
                Thread { read(from: queue, expecting: expected, tally) }
            }
        threads.forEach { $0.start() }

        // Everyone is demonstrably at work before the rotation, and goes on after it.
        try tally.wait(writes: 50, reads: 50)
        let start = Date()
        try queue.rotateKey(to: try key(inFile: arguments[4]))
        let seconds = Date().timeIntervalSince(start)
        let (writes, reads) = tally.soFar
        try tally.wait(writes: writes + 50, reads: reads + 50)
        try tally.finish(threads: threads.count)

        try verify(queue, tally, expected)
        print(
            "rotated in \(String(format: "%.2f", seconds)) s under load:",
            "\(tally.soFar.writes) writes acknowledged, all found;",
            "\(tally.soFar.reads) reads, all saw the same \(expected.count) tables")
    }

    static func write(to queue: DatabaseQueue, _ tally: Tally) {
        tally.work {
            try queue.write { db in
                try db.execute(sql: "INSERT INTO strongroom_demo (word) VALUES (?)", arguments: ["a secret"])
            }
            tally.wrote()
        }
    }

    static func read(from queue: DatabaseQueue, expecting expected: [String: Int], _ tally: Tally) {
        tally.work {
            let acknowledged = tally.soFar.writes
            let (counts, written) = try queue.read { db in
                (try rowCounts(db), try Int.fetchOne(db, sql: "SELECT count(*) FROM strongroom_demo") ?? 0)
            }
            guard counts == expected else { throw Mismatch("a reader found other rows than the original has") }
            guard written >= acknowledged else { throw Mismatch("a reader missed rows that were acknowledged") }
            tally.read()
        }
    }

    static func verify(_ queue: DatabaseQueue, _ tally: Tally, _ expected: [String: Int]) throws {
        let written = try queue.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM strongroom_demo") }
        guard written == tally.soFar.writes else {
            throw Mismatch("\(tally.soFar.writes) writes were acknowledged, \(written ?? 0) rows are there")
        }
        try queue.write { db in try db.execute(sql: "DROP TABLE strongroom_demo") }
        guard try queue.read(rowCounts) == expected else { throw Mismatch("the tables differ from the original") }
        try queue.close()
    }

    static func rowCounts(_ db: Database) throws -> [String: Int] {
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master
                WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> 'strongroom_demo'
                """)
        return try tables.reduce(into: [:]) { counts, table in
            let quoted = "\"" + table.replacingOccurrences(of: "\"", with: "\"\"") + "\""
            counts[table] = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(quoted)")
        }
    }

    static func readonly() -> Configuration {
        var configuration = Configuration()
        configuration.readonly = true
        return configuration
    }

    static func open(_ path: String, key: DatabaseKey) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key)
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func key(inFile path: String) throws -> DatabaseKey {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        return .passphrase(bytes)
    }
}

struct Mismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
