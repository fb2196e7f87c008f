import Foundation

/// `ReplicaWorkload` in a process of its own, until its input is closed.
final class Workload: @unchecked Sendable {
    /// Beside the tests, whose bundle the arguments of the test process name.
    static let program = {
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? CommandLine.arguments[0]
        var folder = URL(fileURLWithPath: bundle).resolvingSymlinksInPath()
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let candidate = folder.appendingPathComponent("ReplicaWorkload").path
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        return "ReplicaWorkload"
    }()

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lock = NSLock()
    private var text = ""

    struct Failure: Error {
        let output: String
    }

    init(_ words: [String], environment: [String: String] = [:]) throws {
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = words
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        output.fileHandleForReading.readabilityHandler = { [weak self] handle in
            let bytes = handle.availableData
            self?.lock.withLock { self?.text += String(decoding: bytes, as: UTF8.self) }
        }
        try process.run()
    }

    deinit {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    var printed: String { lock.withLock { text } }

    /// Waits until the process has printed a text.
    func wait(for line: String, seconds: Int = 30) throws {
        for _ in 0..<seconds * 100 {
            if printed.contains(line) { return }
            usleep(10_000)
        }
        throw Failure(output: "\(line) is not in: \(printed)")
    }

    func die() {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Closes the input, and returns what was printed.
    func end() throws -> String {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        // The handler may not have had the last bytes yet.
        for _ in 0..<500 where !printed.hasSuffix("ended\n") { usleep(10_000) }
        return printed
    }
}
