import Foundation
import StrongroomReplica
import Testing

/// A program of the tests, killed at its nth system call of those that change files.
struct Victim {
    static let strace = ["/usr/bin/strace", "/usr/local/bin/strace"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The system calls that change files.
    static let calls = ["mkdir", "pwrite64", "write", "fsync", "rename", "renameat2", "unlink", "ftruncate"]

    /// The nth call of a name in one thread.
    struct Point {
        var call: String
        var number: Int
    }

    /// Returns the output, and whether the program was killed.
    static func run(_ words: [String], killedAt point: Point?) throws -> (output: String, isKilled: Bool) {
        let process = Process(), output = Pipe()
        let injection = point.map {
            let kill = "inject=\($0.call):signal=SIGKILL:when=\($0.number)"
            return ["-f", "-qq", "-o", "/dev/null", "-e", "trace=\($0.call)", "-e", kill]
        }
        process.executableURL = URL(fileURLWithPath: injection == nil ? Workload.program : strace!)
        process.arguments = (injection.map { $0 + [Workload.program] } ?? []) + words
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text.trimmingCharacters(in: .newlines), process.terminationReason == .uncaughtSignal)
    }
}

@Suite("After a kill", .serialized, .enabled(if: Victim.strace != nil, "strace is not installed"))
struct KillTests {
    @Test("at any system call of a replicator, every acknowledged position is there, and the next run goes on")
    func replicator() throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 300)
        var rows = 300, acknowledged: [UInt64: Int] = [:], kills = 0
        func run(killedAt point: Victim.Point?) throws -> Bool {
            let words = ["once", scratch.database, scratch.destination]
            let (output, isKilled) = try Victim.run(words, killedAt: point)
            if let position = UInt64(output) { acknowledged[position] = rows }
            return isKilled
        }
        // The first run stores all pages.
        for call in Victim.calls {
            for number in [1, 2, 3, 5, 8, 13] where try run(killedAt: Victim.Point(call: call, number: number)) {
                kills += 1
            }
        }
        #expect(kills > 10)
        _ = try run(killedAt: nil)
        kills = 0
        for call in Victim.calls {
            for number in 1... {
                try db.insert(1)
                rows += 1
                guard try run(killedAt: Victim.Point(call: call, number: number)) else { break }
                kills += 1
                // What was on its way, and what was committed since.
                try db.insert(1)
                rows += 1
                #expect(try !run(killedAt: nil))
            }
        }
        #expect(kills > 20)
        #expect(acknowledged.count > kills)
        let verification = try DatabaseReplica.verify(scratch.destination)
        #expect(verification.problems.isEmpty)
        // Nothing is stored twice: one history, with one full point.
        #expect(try DatabaseReplica.histories(in: scratch.destination).filter { !$0.points.isEmpty }.count == 1)
        #expect(try scratch.objects("/full/").count == 1)
        for (position, rows) in acknowledged {
            #expect(try scratch.restoredRows(.position(ReplicaPosition(position))) == ["\(rows)", "\(rows)"])
        }
        let history = try #require(DatabaseReplica.histories(in: scratch.destination).last)
        for point in history.points where acknowledged[point.position.number] == nil {
            let found = try scratch.restoredRows(.position(point.position))
            #expect(found[0] == found[1])
        }
        print("\(kills) kills of the replicator, \(history.points.count) restore points")
    }

    @Test("at any system call of a restore, the database is absent or complete, and the next restore succeeds")
    func restore() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 300)
        try Data("a slot".utf8).write(to: URL(fileURLWithPath: scratch.database + "-keys"))
        let replica = try scratch.replica()
        for _ in 0..<3 {
            try db.insert(1)
            try await replica.sync()
        }
        try await replica.stop()
        let folder = scratch.path("out"), out = folder + "/restored.db"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var kills = 0
        func killOnce(_ point: Victim.Point) throws -> Bool {
            let (_, isKilled) = try Victim.run(["restore", scratch.destination, out], killedAt: point)
            if isKilled { kills += 1 }
            let isComplete = !isKilled || !FileManager.default.fileExists(atPath: out)
            if !FileManager.default.fileExists(atPath: out) {
                #expect(isKilled)
                #expect(try Victim.run(["restore", scratch.destination, out], killedAt: nil).isKilled == false)
            }
            #expect(try StockShell(path: out).rows() == ["303", "303"])
            #expect(try String(contentsOfFile: out + "-keys", encoding: .utf8) == "a slot")
            // The hidden folder of a restore that was killed at its end is removed by the next one.
            let left = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
                isComplete || !$0.hasPrefix(".")
            }
            #expect(left.sorted() == ["restored.db", "restored.db-keys"])
            for name in ["", "-keys"] { try FileManager.default.removeItem(atPath: out + name) }
            return isKilled
        }
        for call in Victim.calls {
            for number in 1... { guard try killOnce(Victim.Point(call: call, number: number)) else { break } }
        }
        #expect(kills > 15)
        print("\(kills) kills of the restore")
    }

    @Test(
        "at any system call of a process that follows, the database opens as a restore point, and the next run goes on")
    func follower() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 300)
        let replica = try scratch.replica()
        try await replica.sync()
        let out = scratch.path("followed.db"), words = ["follow", scratch.destination, out]
        #expect(try !Victim.run(words, killedAt: nil).isKilled)
        var rows = 300, kills = 0
        for call in Victim.calls {
            for number in 1... {
                try db.insert(1)
                try db.run("UPDATE b SET bytes = randomblob(200) WHERE id % 50 = 1")
                rows += 1
                try await replica.sync()
                guard try Victim.run(words, killedAt: Victim.Point(call: call, number: number)).isKilled else { break }
                kills += 1
                // The stock shell rolls back what was not complete.
                let found = try StockShell(path: out).rows()
                #expect(
                    found[0] == found[1] && (found[0] == "\(rows)" || found[0] == "\(rows - 1)"), "\(call) \(number)")
                #expect(try !Victim.run(words, killedAt: nil).isKilled)
                #expect(try StockShell(path: out).rows() == ["\(rows)", "\(rows)"])
            }
        }
        try await replica.stop()
        #expect(kills > 10)
        print("\(kills) kills of a process that follows")
    }

    @Test("at any system call of a process that follows to a new history, the next run goes on with that")
    func newHistory() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 300)
        let replica = try scratch.replica()
        for _ in 0..<3 {
            try db.insert(1)
            try await replica.sync()
        }
        try await replica.stop()
        let out = scratch.path("followed.db"), words = ["follow", scratch.destination, out]
        #expect(try !Victim.run(words, killedAt: nil).isKilled)
        try FileManager.default.removeItem(atPath: scratch.database + "-replica")
        try db.insert(5)
        usleep(10_000)
        try await scratch.replica().stop()
        for name in ["", "-replica"] {
            try FileManager.default.copyItem(atPath: out + name, toPath: scratch.path("kept") + name)
        }
        var kills = 0
        for call in ["rename", "fsync", "unlink"] {
            for number in 1... {
                for name in ["", "-replica", "-journal"] { try? FileManager.default.removeItem(atPath: out + name) }
                for name in ["", "-replica"] {
                    try FileManager.default.copyItem(atPath: scratch.path("kept") + name, toPath: out + name)
                }
                guard try Victim.run(words, killedAt: Victim.Point(call: call, number: number)).isKilled else { break }
                kills += 1
                #expect(try !Victim.run(words, killedAt: nil).isKilled, "\(call) \(number)")
                #expect(try StockShell(path: out).rows() == ["308", "308"], "\(call) \(number)")
            }
        }
        #expect(kills > 5)
        print("\(kills) kills of a process that follows to a new history")
    }

    @Test("of a writer, what it had committed is there")
    func writer() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica { $0.interval = 5 }
        var committed = 0
        for round in 1...10 {
            let words = ["write", scratch.database, Connection.key]
            let (output, isKilled) = try Victim.run(
                words, killedAt: Victim.Point(call: "pwrite64", number: 30 + round * 37))
            #expect(isKilled)
            committed += output.split(separator: "\n").count
            try await replica.sync()
            let rows = try scratch.restoredRows()
            #expect(rows[0] == rows[1])
            let found = try #require(Int(rows[0]))
            // The last commit may have been made without being printed.
            #expect(found >= committed && found <= committed + round)
        }
        try await replica.stop()
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }
}
