import Foundation
import Testing

@testable import StrongroomReplica

@Suite("A clock that is set back a day")
struct ClockTests {
    @Test("does not have a database be read again and again that was changed before")
    func stamps() async throws {
        let scratch = try Scratch()
        do {
            let db = try Connection(scratch.database, journal: "delete")
            try db.createTables()
            try db.insert(100)
        }
        // To the clock, this is tomorrow.
        try Data("a salt".utf8).write(to: URL(fileURLWithPath: scratch.database + "-salt"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 86_400)], ofItemAtPath: scratch.database)
        let capture = try Capture(path: scratch.database, folder: scratch.folder, settings: Capture.Settings())
        #expect(try capture.step() == .captured)
        _ = try capture.take()
        #expect(try capture.step() == .unchanged)
    }

    @Test("leaves the age of a replica to its heartbeat")
    func age() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        try await scratch.replica().stop()
        try scratch.dateLastPoint(laterBy: 86_400_000)
        try db.insert(1)
        try await scratch.replica().stop()
        let history = try DatabaseReplica.histories(in: scratch.destination)[0]
        #expect(history.points[1].milliseconds > currentMilliseconds() + 80_000_000)
        #expect(history.lastSeen <= currentMilliseconds())
    }

    @Test("prolongs no wait: none is until a time of that clock", .enabled(if: Victim.strace != nil))
    func waits() throws {
        let (scratch, _) = try Scratch.withDatabase(rows: 1)
        let process = Process(), log = scratch.path("trace")
        process.executableURL = URL(fileURLWithPath: Victim.strace!)
        process.arguments = [
            "-f", "-qq", "-o", log, "-e", "trace=futex", Workload.program, "once",
            scratch.database,
            scratch.destination,
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
        let timed = lines.filter { $0.contains("WAIT") && $0.contains("tv_sec") }
        let known = timed.filter { $0.contains("CLOCK_REALTIME") }.map { $0.drop { $0 != "(" }.prefix { $0 != "," } }
        #expect(known.count < timed.count)
        // Idle threads of libdispatch wait at one place.
        #expect(Set(known).count <= 1, "\(known)")
    }
}
