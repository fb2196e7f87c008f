import CSQLCipher
import Foundation
import StrongroomReplica

/// A replicator, a writer or a restore in a process of its own, for tests that kill it.
///
/// usage: ReplicaWorkload once DATABASE DESTINATION       stores what is committed, and prints the position
///        ReplicaWorkload run DATABASE DESTINATION STATE  goes on until the input ends, and prints events
///        ReplicaWorkload write DATABASE KEY              commits rows, and prints their number after each commit
///        ReplicaWorkload restore DESTINATION DATABASE    restores the newest point
///        ReplicaWorkload follow DESTINATION DATABASE     restores it or goes on with it, up to the newest point
@main
struct ReplicaWorkload {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == (words.first == "run" ? 4 : 3) else { fatalError("three or four arguments") }
        switch words[0] {
        case "run": try await run(words[1], words[2], state: words[3])
        case "once": try await replicate(words[1], words[2])
        case "write": write(words[1], words[2])
        case "follow":
            var rounds = 0
            try DatabaseReplica.follow(
                from: words[1], to: words[2], interval: 20,
                until: {
                    rounds += 1
                    return rounds > 3
                }, report: { _ in })
        default: try DatabaseReplica.restore(from: words[1], to: words[2])
        }
    }

    private static func replicate(_ database: String, _ destination: String) async throws {
        var options = DatabaseReplica.Options()
        options.interval = 0
        options.attempts = 5
        let replica = try DatabaseReplica(path: database, to: destination, options: options)
        replica.start()
        if let position = try await replica.sync() { say("\(position)") }
        try await replica.stop()
    }

    private static func run(_ database: String, _ destination: String, state: String) async throws {
        var options = DatabaseReplica.Options()
        (options.interval, options.stateFolder) = (0, state)
        let replica = try DatabaseReplica(path: database, to: destination, options: options)
        replica.start()
        let ending = Task.detached {
            while !FileHandle.standardInput.availableData.isEmpty {}
            _ = try? await replica.stop()
        }
        for await event in replica.events {
            switch event {
            case .started: say("started")
            case .durable(let point): say("position \(point.position)")
            case .failing(let error): say("failing \(error.reason)")
            case .recovered: say("recovered")
            case .stopped(let error): say(error.map { "stopped \($0.reason)" } ?? "stopped")
            }
        }
        say("ended")
        ending.cancel()
        exit(0)
    }

    /// Prints a line, and flushes the output.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func write(_ path: String, _ key: String) {
        var db: OpaquePointer?
        func run(_ sql: String) {
            let code = sqlite3_exec(db, sql, nil, nil, nil)
            guard code == SQLITE_OK else { fatalError("\(sql): \(code)") }
        }
        sqlite3_open(path, &db)
        sqlite3_busy_timeout(db, 10_000)
        run("PRAGMA key = \"x'\(key)'\"")
        for count in 1... {
            run("BEGIN IMMEDIATE; INSERT INTO a (text) VALUES (hex(randomblob(300)))")
            run("INSERT INTO b (bytes) VALUES (randomblob(300)); COMMIT")
            say("\(count)")
        }
    }
}
