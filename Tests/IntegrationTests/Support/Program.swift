import Foundation
import TestSupport

/// The exit status and the output of a program.
struct Outcome {
    let status: Int32
    let output: String
    let errors: String
}

extension Outcome {
    /// Standard output as the one JSON object that it is.
    var object: [String: Any] {
        get throws {
            guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
                throw Unavailable("no JSON object: \(output)")
            }
            return object
        }
    }
}

/// Runs the built `strongroom` to its end.
func strongroom(_ arguments: String..., input: String = "") async throws -> Outcome {
    try await strongroom(arguments, input: input)
}

func strongroom(_ arguments: [String], input: String = "") async throws -> Outcome {
    var program = try Program(built: "strongroom")
    program.arguments = arguments
    return try await program.run(input: input)
}

/// A program that runs as a process of its own.
struct Program {
    let executable: URL
    var arguments: [String] = []

    /// A program of this package, built next to the tests.
    init(built name: String, _ arguments: String...) throws {
        executable = try Self.builtFolder().appendingPathComponent(name)
        self.arguments = arguments
    }

    /// A program of the system, looked up as the shell does.
    init(_ name: String, _ arguments: String...) throws {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = folders.map { "\($0)/\(name)" }
        guard let path = candidates.first(where: FileManager.default.isExecutableFile(atPath:)) else {
            throw Unavailable("\(name): not found in PATH; scripts/bootstrap installs what the tests need")
        }
        executable = URL(fileURLWithPath: path)
        self.arguments = arguments
    }

    init(script: String, _ arguments: String...) {
        executable = Self.packageFolder.appendingPathComponent("scripts/\(script)")
        self.arguments = arguments
    }

    static let packageFolder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder that holds the test bundle: the arguments of the test process name it, each platform in its own way.
    static func builtFolder() throws -> URL {
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            var folder = URL(fileURLWithPath: argument)
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                if FileManager.default.isExecutableFile(atPath: folder.appendingPathComponent("strongroom").path) {
                    return folder
                }
            }
        }
        throw Unavailable("the built strongroom was not found next to the tests")
    }

    /// Runs to the end. Standard input is `input`, then its end; there is no terminal.
    func run(input: String = "") async throws -> Outcome {
        // From a file: writing to a program that has ended already would end the tests, too.
        let scratch = try TemporaryFolder()
        try scratch.write(Data(input.utf8), to: "input")
        let running = try RunningProgram(executable, arguments, input: scratch.reading("input"))
        return await running.outcome()
    }

    func start() throws -> RunningProgram {
        try RunningProgram(executable, arguments)
    }
}

struct Unavailable: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// A process under way. Its output goes to files, which never fill up the way a pipe does.
final class RunningProgram {
    let process = Process()
    private let scratch: TemporaryFolder
    private let inputPipe = Pipe()
    private let ended = AsyncStream<Void>.makeStream()
    private let watchdog: DispatchWorkItem

    init(
        _ executable: URL, _ arguments: [String], input: FileHandle? = nil, terminal: FileHandle? = nil,
        patience: TimeInterval = 120
    ) throws {
        scratch = try TemporaryFolder()
        process.executableURL = executable
        process.arguments = arguments
        let output = try terminal ?? scratch.newFile("output"), errors = try terminal ?? scratch.newFile("errors")
        process.standardInput = terminal ?? input ?? inputPipe
        process.standardOutput = output
        process.standardError = errors
        process.terminationHandler = { [ended] _ in ended.continuation.finish() }
        try process.run()
        // A `Process` is not let go by Foundation, and its files with it: after some hundreds the descriptors are used
        // up.
        for ours in [
            input, terminal == nil ? output : nil, terminal == nil ? errors : nil, inputPipe.fileHandleForReading,
        ] { try? ours?.close() }
        // A program that waits for what no test will say ends all the same, and the test fails by its status.
        let identifier = process.processIdentifier
        watchdog = DispatchWorkItem { kill(identifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: watchdog)
    }

    func write(_ text: String) {
        inputPipe.fileHandleForWriting.write(Data(text.utf8))
    }

    func endInput() {
        try? inputPipe.fileHandleForWriting.close()
    }

    func outcome() async -> Outcome {
        for await _ in ended.stream {}
        watchdog.cancel()
        endInput()
        return Outcome(
            status: process.terminationStatus, output: scratch.text("output"), errors: scratch.text("errors"))
    }

    /// Returns when the process has written `text` to its standard output.
    func waitForOutput(_ text: String) async throws {
        try await wait { self.scratch.text("output").contains(text) }
    }

    /// The writing end of a pipe, once the process reads it.
    func writing(to pipe: String) async throws -> FileHandle {
        var descriptor: Int32 = -1
        try await wait {
            descriptor = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            return descriptor >= 0
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Returns when the process has written `text` to its standard error.
    func waitForErrors(_ text: String) async throws {
        try await wait { self.scratch.text("errors").contains(text) }
    }

    /// Asks every millisecond: one that asked without a pause would take the processor from the program.
    func wait(until condition: () throws -> Bool) async throws {
        while try !condition() {
            guard try process.isRunning || condition() else {
                throw Unavailable("the program ended too early: \(scratch.text("errors"))")
            }
            try await Task.sleep(nanoseconds: 1_000_000)
        }
    }
}
