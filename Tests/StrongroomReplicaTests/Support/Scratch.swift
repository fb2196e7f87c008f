import Foundation
import Testing

@testable import StrongroomReplica

/// A temporary folder with a database, and a destination.
final class Scratch {
    let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "replica-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Returns a folder with a database of so many rows in each of two tables, and a connection to it.
    static func withDatabase(rows: Int) throws -> (Scratch, Connection) {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        try db.insert(rows)
        return (scratch, db)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func path(_ name: String) -> String { folder + "/" + name }
    var database: String { path("notes.db") }
    var destination: String { path("destination") }

    func size(_ name: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: path(name)))?[.size] as? Int) ?? 0
    }

    /// The objects in the destination, by name.
    func objects(_ infix: String = "") throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: destination)
            .filter { name in
                var isFolder: ObjCBool = false
                _ = FileManager.default.fileExists(atPath: destination + "/" + name, isDirectory: &isFolder)
                return !isFolder.boolValue && (infix.isEmpty || name.contains(infix))
            }
            .sorted()
    }

    func bytes(_ object: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: URL(fileURLWithPath: destination + "/" + object)))
    }

    func write(_ bytes: [UInt8], _ object: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: destination + "/" + object))
    }

    func remove(_ object: String) throws { try FileManager.default.removeItem(atPath: destination + "/" + object) }

    /// A replica that has started.
    func replica(_ change: (inout DatabaseReplica.Options) -> Void = { _ in }) throws -> DatabaseReplica {
        var options = DatabaseReplica.Options()
        options.interval = 0
        options.attempts = 5
        change(&options)
        let replica = try DatabaseReplica(path: database, to: destination, options: options)
        replica.start()
        return replica
    }

    /// Dates the last restore point later, in milliseconds, as if the clock had been set back since.
    func dateLastPoint(laterBy milliseconds: Int64) throws {
        let folder = database + "-replica"
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        let state = try LocalState(folder: folder + "/" + name)
        var record = try #require(state.record)
        record.time += milliseconds
        try state.save(record)
        state.release()
    }

    private var restored = 0

    /// Restores a point, and checks the result with the stock shell. Returns the numbers of rows in the two tables.
    func restoredRows(_ target: RestoreTarget = .newest, key: String = Connection.key) throws -> [String] {
        restored += 1
        let path = path("restored-\(restored).db")
        try DatabaseReplica.restore(from: destination, to: path, target: target)
        return try StockShell(path: path, key: key).rows()
    }
}

/// The `sqlcipher` shell as its makers ship it.
struct StockShell {
    let path: String
    var key = Connection.key
    var settings = ""

    struct Failure: Error {
        let output: String
    }

    func run(_ sql: String) throws -> [String] {
        let process = Process(), input = Pipe(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlcipher", "-batch", "-bail", "-init", "/dev/null", path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let keying = key.isEmpty ? "" : ".output /dev/null\nPRAGMA key = \"x'\(key)'\";\n\(settings)\n.output stdout\n"
        input.fileHandleForWriting.write(Data((keying + sql + "\n").utf8))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: text) }
        return text.split(separator: "\n").map(String.init)
    }

    /// Checks structure and pages. Returns the numbers of rows in the two tables.
    func rows() throws -> [String] {
        let integrity = key.isEmpty ? "" : "PRAGMA cipher_integrity_check;"
        let found = try run("PRAGMA integrity_check; \(integrity) SELECT count(*) FROM a; SELECT count(*) FROM b;")
        guard found.first == "ok" else { throw Failure(output: found.joined(separator: "\n")) }
        return Array(found.dropFirst())
    }
}

/// A value that threads share.
final class Flag: @unchecked Sendable {
    private let lock = NSLock()
    private var value = false

    var isSet: Bool { lock.withLock { value } }
    func set() { lock.withLock { value = true } }
    func clear() { lock.withLock { value = false } }
}
