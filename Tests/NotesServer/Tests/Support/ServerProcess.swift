import Foundation
import Testing

/// A value with a lock.
final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value { lock.withLock { stored } }

    func update<T>(_ change: (inout Value) -> T) -> T { lock.withLock { change(&stored) } }
}

/// A program of this package in a process of its own, whose lines are read.
final class RunningProgram: @unchecked Sendable {
    private let process = Process()
    private let output = Pipe()
    let lines = Shared<[String]>([])

    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        process.executableURL = Self.folder.appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = output
        try process.run()
        let handle = output.fileHandleForReading
        Thread.detachNewThread { [lines] in
            var rest = ""
            while case let data = handle.availableData, !data.isEmpty {
                var parts = (rest + String(decoding: data, as: UTF8.self)).components(separatedBy: "\n")
                rest = parts.removeLast()
                lines.update { $0 += parts }
            }
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// The folder of the programs: that of this test, or the optimized ones.
    static let folder =
        ProcessInfo.processInfo.environment["STRONGROOM_LATENCY"].map { URL(fileURLWithPath: $0) }
        ?? Bundle.main.bundleURL

    /// Returns the first line with a beginning, without it.
    func awaitLine(_ beginning: String) throws -> String {
        let end = Date().addingTimeInterval(60)
        while Date() < end {
            if let line = lines.value.first(where: { $0.hasPrefix(beginning) }) {
                return String(line.dropFirst(beginning.count))
            }
            Thread.sleep(forTimeInterval: 0.002)
        }
        throw HTTPClient.Failure(description: "no line \(beginning)")
    }

    func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for the end, and returns the exit status. Nil after a signal.
    func end(within seconds: TimeInterval = 60) throws -> Int32? {
        let end = Date().addingTimeInterval(seconds)
        while process.isRunning {
            guard Date() < end else { throw HTTPClient.Failure(description: "the process does not end") }
            Thread.sleep(forTimeInterval: 0.002)
        }
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }
}

/// The server on a database in a folder of its own.
final class NotesFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("notes-\(UUID().uuidString)").path
    var database: String { path + "/notes.db" }

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func startServer(_ options: String..., environment: [String: String] = [:]) throws -> (RunningProgram, port: Int) {
        let server = try RunningProgram("NotesServer", [database] + options, environment: environment)
        let port = try #require(Int(try server.awaitLine("listening on ")))
        return (server, port)
    }
}

/// Runs a test that blocks on a thread of its own, so that others go on.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}
