import Foundation
import Strongroom

// The programs of scripts/measure/external-changes: some commit, and one observes.

extension SharingWorkload {
    /// Commits so many notes, `rate` of them in a second, or without a rest for 0, with a checkpoint after each if
    /// `checkpoints`; prints the number of each and when it was committed. At the end prints how long the median commit
    /// took, how long all of them, and how much of that the processor worked, in microseconds.
    static func commit(_ path: String, _ keyFile: String, count: Int, rate: Int, checkpoints: Bool) {
        do {
            try tryToCommit(path, keyFile, count: count, rate: rate, checkpoints: checkpoints)
        } catch {
            // Another process has changed the key.
            exit(4)
        }
    }

    private static func tryToCommit(_ path: String, _ keyFile: String, count: Int, rate: Int, checkpoints: Bool) throws
    {
        let queue = try DatabaseQueue(path: path, configuration: configuration(keyFile))
        var lines: [String] = [], durations: [UInt64] = []
        let began = now(), processorTime = clock()
        for number in 0..<count {
            if rate > 0 { sleep(until: began + UInt64(number) * 1_000_000_000 / UInt64(rate)) }
            let start = now()
            let id = try queue.write { db in
                try db.execute(sql: "INSERT INTO note (author) VALUES ('commit')")
                return db.lastInsertedRowID
            }
            durations.append(now() - start)
            if checkpoints { checkpoint(queue) }
            lines.append("\(id) \(now())")
        }
        let total = now() - began
        print(lines.joined(separator: "\n"))
        durations.sort()
        print("took \(durations[count / 2] / 1000) \(total / 1000) \(clock() - processorTime)")
        try queue.close()
    }

    /// Moves the log in one way or another, as far as others let it.
    private static func checkpoint(_ queue: DatabaseQueue) {
        let kinds: [Database.CheckpointMode] = [.passive, .full, .restart, .truncate]
        _ = try? queue.writeWithoutTransaction { try $0.checkpoint(kinds.randomElement()!) }
    }

    /// Prints each latest number and when it was notified, until the end of its input. When others change the key,
    /// opens the database anew.
    static func observe(_ path: String, _ keyFile: String, isBlind: Bool) {
        let observer = NoteObserver(path, keyFile, isBlind: isBlind)
        observer.start()
        while readLine() != nil {}
    }

    fileprivate static func configuration(_ keyFile: String) throws -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(60)
        configuration.encryption = Encryption(key: .passphrase(try Data(contentsOf: URL(fileURLWithPath: keyFile))))
        return configuration
    }

    fileprivate static func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }

    private static func sleep(until time: UInt64) {
        let time = Int64(time) - Int64(now())
        if time > 0 { usleep(UInt32(time / 1000)) }
    }
}

/// Sendable because it is used on `queue` only.
private final class NoteObserver: @unchecked Sendable {
    private let path: String
    private let keyFile: String
    private let isBlind: Bool
    private let queue = DispatchQueue(label: "NoteObserver", qos: .userInitiated)
    private var pool: DatabasePool?
    private var cancellable: AnyDatabaseCancellable?

    init(_ path: String, _ keyFile: String, isBlind: Bool) {
        (self.path, self.keyFile, self.isBlind) = (path, keyFile, isBlind)
    }

    func start() {
        queue.async { self.open() }
    }

    private func open() {
        do {
            var configuration = try SharingWorkload.configuration(keyFile)
            configuration.observesExternalChanges = !isBlind
            let pool = try DatabasePool(path: path, configuration: configuration)
            self.pool = pool
            cancellable = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT max(id) FROM note") ?? 0 }
                .start(in: pool, scheduling: .async(onQueue: queue)) {
                    self.fail($0)
                } onChange: {
                    self.say("\($0)")
                }
        } catch {
            // In the middle of a change of key, neither key may open the database.
            queue.asyncAfter(deadline: .now() + .milliseconds(50)) { self.open() }
        }
    }

    private func fail(_ error: any Error) {
        say("error \((error as? DatabaseError)?.reason?.description ?? "\(error)")")
        cancellable = nil
        try? pool?.close()
        open()
    }

    private func say(_ text: String) {
        // To flush all streams would wait for the input, which is being read.
        FileHandle.standardOutput.write(Data("\(text) \(SharingWorkload.now())\n".utf8))
    }
}
