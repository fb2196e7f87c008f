import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport

/// One of several processes that use a database until they are killed: `Campaigns work FOLDER KIND AUTHOR [OPERATION]`,
/// which is killed in front of a change of a file if it has a number.
struct Worker {
    enum Kind: String, CaseIterable {
        case write, rotate, header, migrate, read, checkpoint, suspend, backup, folder, restore, migrateInPlace

        /// Writes a database whose file another process replaces.
        case writeReplaced
    }

    let kind: Kind
    let place: Place
    private var ledger: Ledger

    init(_ options: Options) throws {
        guard options.rest.count >= 2, let kind = Kind(rawValue: options.rest[0]) else {
            throw Usage("usage: Campaigns work FOLDER KIND AUTHOR [OPERATION]")
        }
        self.kind = kind
        place = Place(folder: options.folder + "/work", copyName: "copy-" + options.rest[1])
        ledger = Ledger(author: options.rest[1])
        try ledger.open(in: options.folder)
        if options.rest.count > 2, let operation = Int64(options.rest[2]) { strongroom_faults_kill_after(operation) }
    }

    /// Works until the end of the input, or a kill.
    mutating func run() throws {
        Thread.detachNewThread {
            while readLine() != nil {}
            exit(EXIT_SUCCESS)
        }
        print("works")
        fflush(nil)
        while true {
            do { try useDatabase() } catch { try require(error) }
        }
    }

    /// Others are in the way, or have changed the key. All else is a finding.
    private func require(_ error: any Error) throws {
        guard let error = error as? DatabaseError else { throw error }
        let isExpected =
            [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_NOTADB].contains(error.resultCode)
            || error.isInterruptionError || error.reason == .fileExists || error.reason == .keyChanged
            || kind == .writeReplaced && error.reason == .fileGone
        guard isExpected else { throw error }
        usleep(1000)
    }

    private mutating func useDatabase() throws {
        let secret = try secretThatOpens()
        var configuration = try secret.configuration
        configuration.busyMode = .timeout(2)
        configuration.observesSuspensionNotifications = kind == .suspend
        if kind == .header { return try changeHeader(secret, configuration) }
        if kind == .restore || kind == .migrateInPlace { return try replace(secret) }
        let queue = try DatabaseQueue(path: place.path, configuration: configuration)
        defer { try? queue.close() }
        try catchUp(queue)
        for _ in 0..<20 { try work(queue, secret) }
    }

    private mutating func work(_ queue: DatabaseQueue, _ secret: Secret) throws {
        switch kind {
        case .write, .writeReplaced, .header, .restore, .migrateInPlace: try ledger.commit(queue)
        case .rotate: return try rotate(queue, secret)
        case .migrate: try migrate(queue)
        case .read: _ = try queue.read { try Int.fetchOne($0, sql: "SELECT sum(length(text)) FROM entry") }
        case .checkpoint:
            let mode = [Database.CheckpointMode.passive, .full, .restart, .truncate].randomElement()!
            try ledger.commit(queue)
            _ = try queue.writeWithoutTransaction { try $0.checkpoint(mode) }
        case .suspend: try suspend(queue)
        case .backup: try backUp(queue, secret)
        case .folder:
            try ledger.commit(queue)
            let folder = BackupFolder(place)
            try folder.make(of: place)
            try folder.forget()
        }
    }

    private func secretThatOpens() throws -> Secret {
        let secrets: [Secret] = [.old, .new, .phrase, .former]
        return secrets.first { $0.opens(place) } ?? secrets[0]
    }

    /// A batch may be there that was not acknowledged: the process before was killed in between.
    private mutating func catchUp(_ queue: DatabaseQueue) throws {
        let author = ledger.author
        let found = try queue.read { db in
            try Int.fetchOne(db, sql: "SELECT max(batch) FROM entry WHERE author = ?", arguments: [author]) ?? 0
        }
        if found != ledger.acknowledged { ledger.acknowledge(found) }
    }

    private mutating func rotate(_ queue: DatabaseQueue, _ secret: Secret) throws {
        var other: Secret = secret == .old ? .new : .old
        for _ in 0..<20 {
            try queue.rotateKey(to: other.key)
            other = other == .old ? .new : .old
            try ledger.commit(queue)
        }
    }

    private mutating func changeHeader(_ secret: Secret, _ configuration: Configuration) throws {
        let header = [nil, PlaintextHeader(), PlaintextHeader(size: 64)].randomElement()!
        try DatabaseFile.setPlaintextHeader(header, path: place.path, encryption: secret.encryption)
        let queue = try DatabaseQueue(path: place.path, configuration: configuration)
        defer { try? queue.close() }
        try catchUp(queue)
        try ledger.commit(queue)
    }

    /// Restores a backup that another key opens, or gives the database another format and key. Then commits.
    private mutating func replace(_ secret: Secret) throws {
        let former: Secret = kind == .restore ? .old : .former, other = secret == former ? .new : former
        if kind == .restore {
            for ending in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: place.copy + ending)
            }
            try DatabaseFile.migrate(path: place.path, to: place.copy, from: secret.encryption, as: other.encryption)
            try DatabaseFile.restore(
                from: place.copy, to: place.path, check: .opening(other.encryption), former: .discarded)
        } else {
            try DatabaseFile.migrateInPlace(path: place.path, from: secret.encryption, as: other.encryption)
        }
        let queue = try DatabaseQueue(path: place.path, configuration: other.configuration)
        defer { try? queue.close() }
        try catchUp(queue)
        try ledger.commit(queue)
    }

    /// A step of the schema, and once a copy in the present format.
    private mutating func migrate(_ queue: DatabaseQueue) throws {
        if !FileManager.default.fileExists(atPath: place.copy) {
            try DatabaseFile.migrate(
                path: place.path, to: place.copy, from: Secret.former.encryption, as: Secret.old.encryption)
        }
        let batch = ledger.acknowledged + 1, author = ledger.author
        var migrator = DatabaseMigrator()
        migrator.registerMigration("migration \(batch)") { db in
            try db.execute(sql: "DROP TABLE IF EXISTS extra; CREATE TABLE extra AS SELECT * FROM total")
            try Ledger.insert(batch, by: author, in: db)
        }
        ledger.attempt(batch)
        try migrator.migrate(queue)
        ledger.acknowledge(batch)
    }

    private mutating func suspend(_ queue: DatabaseQueue) throws {
        let center = NotificationCenter.default
        Thread.detachNewThread {
            usleep(UInt32.random(in: 0..<3000))
            center.post(name: Database.suspendNotification, object: nil)
            usleep(500)
            center.post(name: Database.resumeNotification, object: nil)
        }
        defer { center.post(name: Database.resumeNotification, object: nil) }
        for _ in 0..<5 { try ledger.commit(queue) }
    }

    private func backUp(_ queue: DatabaseQueue, _ secret: Secret) throws {
        for ending in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: place.copy + ending)
        }
        try queue.vacuum(into: place.copy)
        usleep(20_000)
    }
}

/// A process that works on the database.
final class Crew {
    private let process = Process()
    private let input = Pipe(), output = Pipe()
    let name: String
    /// True if its lines are numbers of rows whose commits have returned.
    private(set) var counts = false

    init(_ kind: Worker.Kind, _ author: String, _ options: Options, killedAt operation: Int? = nil) throws {
        name = "\(kind) \(author)"
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["work", options.folder, kind.rawValue, author] + (operation.map { ["\($0)"] } ?? [])
        (process.standardInput, process.standardOutput) = (input, output)
        // A process that is killed while its crash is described would leave the one that describes it.
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        try process.run()
    }

    /// The stock shell: commits rows, or reads all of them, without an end.
    ///
    /// It moves no log: it has SQLite's WAL-reset bug, and nothing fences it.
    init(shellThatWrites writes: Bool, _ path: String, _ secret: Secret) throws {
        (name, counts) = ("shell", writes)
        let statement =
            writes
            ? "INSERT INTO note (text) VALUES ('shell'); SELECT max(id) FROM note;"
            : "SELECT sum(length(text)) FROM entry;"
        let key = try secret.statements(for: path)
        let setUp = "\(key)\nPRAGMA busy_timeout = 2000;\nPRAGMA wal_autocheckpoint = 0;\n"
        let sql = ".output /dev/null\n" + setUp + ".output stdout\n" + String(repeating: statement + "\n", count: 400)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["stdbuf", "-oL", "sqlcipher", "-batch", "-bail", "-init", "/dev/null", path]
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, FileHandle.nullDevice)
        try process.run()
        Thread.detachNewThread { [input] in
            try? input.fileHandleForWriting.write(contentsOf: Data(sql.utf8))
        }
    }

    /// Throws if a worker has ended by itself. A shell may, which runs a number of statements.
    func requireRunning() throws {
        guard name != "shell", !process.isRunning else { return }
        throw Finding("\(name) ended by itself: \(process.terminationReason) \(process.terminationStatus)")
    }

    /// Waits until it has begun.
    func awaitBegin() { _ = output.fileHandleForReading.availableData }

    /// Returns the last row whose commit has returned.
    @discardableResult
    func kill() -> Int {
        Foundation.kill(process.processIdentifier, SIGKILL)
        let text = String(decoding: (try? output.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard counts else { return 0 }
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().last.flatMap { Int($0) } ?? 0
    }

    /// Throws unless it was killed.
    func requireKilled() throws {
        process.waitUntilExit()
        guard process.terminationReason == .uncaughtSignal, process.terminationStatus == SIGKILL else {
            throw Finding("\(name) ended by itself: \(process.terminationReason) \(process.terminationStatus)")
        }
    }

    /// Ends it by the end of its input; a kill, if that is not enough.
    func end() throws {
        try? input.fileHandleForWriting.close()
        for _ in 0..<3000 where process.isRunning { usleep(1000) }
        if process.isRunning { _ = kill() }
        guard process.terminationReason == .uncaughtSignal || process.terminationStatus == EXIT_SUCCESS else {
            throw Finding("\(name) ended with status \(process.terminationStatus)")
        }
    }

    var isRunning: Bool { process.isRunning }
}
