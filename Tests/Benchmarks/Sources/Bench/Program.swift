import Foundation
import Workload

/// The three that are compared, in the order of their turns.
enum Program: String, CaseIterable {
    case c = "BenchC"
    case strongroom = "BenchStrongroom"
    case grdb = "BenchGRDB"

    /// The program of the same engine with another purpose.
    func executable(_ purpose: String) -> String { purpose + rawValue.dropFirst("Bench".count) }

    var title: String {
        switch self {
        case .c: "C"
        case .strongroom: "Strongroom"
        case .grdb: "GRDB 7.10"
        }
    }
}

/// Runs the programs, each time as a process of its own.
struct Runner {
    let folder: String
    /// A folder in which SQLCipher has the name of the system's SQLite, for GRDB.
    private let libraries: String
    private let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    /// The number of times that each file was worked on.
    private var turns: [String: Int] = [:]

    init(folder: String, library: String) throws {
        self.folder = folder
        libraries = folder + "/lib"
        try FileManager.default.createDirectory(atPath: libraries, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: libraries + "/libsqlite3.so.0", withDestinationPath: library)
    }

    func prepare(chinook: String) throws {
        _ = try output(Program.c.rawValue, ["prepare", folder, chinook])
    }

    func prepareRotation(megabytes: Int) throws {
        let path = Call.file(.rotation, size: megabytes, in: folder)
        _ = try output(Program.c.rawValue, ["prepareRotation", String(megabytes), path])
    }

    func removeRotation(megabytes: Int) throws {
        try FileManager.default.removeItem(atPath: Call.file(.rotation, size: megabytes, in: folder))
    }

    /// One run of an item; stops the benchmark when the work was not done.
    mutating func outcome(_ program: Program, _ item: Item, _ size: Int) throws -> Outcome {
        try outcome(program.rawValue, item, size)
    }

    /// One run of an item by a program: its name, or its path.
    mutating func outcome(_ program: String, _ item: Item, _ size: Int) throws -> Outcome {
        let path = Call.file(item, size: size, in: folder)
        let words = [item.rawValue, String(size), path, String(turns[path, default: 0])]
        turns[path, default: 0] += 1
        let answers = try output(program, words).split(whereSeparator: \.isWhitespace)
        let values = answers.dropFirst().compactMap { Double($0) }
        guard let check = answers.first.flatMap({ Int64($0) }), values.count == item.measures.count else {
            Options.fail("\(program) \(item) \(size) says \(answers)")
        }
        if let expected = item.expectedCheck(size: size), check != expected {
            Options.fail("\(program) did not do \(item) \(size): \(check) instead of \(expected)")
        }
        return Outcome(check: check, values: values)
    }

    /// Removes a database of the folder, the files beside it, and its copies.
    func removeFiles(_ name: String) {
        for file in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] where file.hasPrefix(name) {
            try? FileManager.default.removeItem(atPath: folder + "/" + file)
        }
    }

    /// Returns the output of a program. Stops the benchmark when it fails.
    func output(_ program: String, _ words: [String]) throws -> String {
        let process = Process()
        process.executableURL =
            program.hasPrefix("/") ? URL(fileURLWithPath: program) : binaries.appendingPathComponent(program)
        process.arguments = words
        if program.hasSuffix("GRDB") {
            process.environment = ProcessInfo.processInfo.environment.merging(["LD_LIBRARY_PATH": libraries]) { $1 }
        }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            Options.fail("\(program) \(words.joined(separator: " ")) failed")
        }
        return String(decoding: output, as: UTF8.self)
    }
}
