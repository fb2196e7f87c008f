import CMachine
import Foundation
import Workload

/// The cost of an engine for a program that does nothing: size, build and start.
struct Footprint {
    private enum Figure: CaseIterable {
        case size, cleanBuild, incrementalBuild, start

        var title: String {
            switch self {
            case .size: "stripped size of the program"
            case .cleanBuild: "clean Release build on two cores"
            case .incrementalBuild: "Release build after a change of the program's file"
            case .start: "from the start of the process to an open database in memory"
            }
        }

        var unit: Measure.Unit { self == .size ? .bytes : .seconds }
    }

    private static let programs = [Program.strongroom, .grdb]
    /// Starts for each round of builds.
    private static let startsPerRound = 20

    let options: Options
    private let runner: Runner
    private var values: [Figure: [Program: [Double]]] = [:]

    init(_ options: Options) throws {
        self.options = options
        runner = try Runner(folder: options.folder, library: options.library)
    }

    mutating func run() throws {
        say("Start: \(Machine.description).")
        machine_use_cores(2)
        for round in 1...options.rounds {
            let programs = round % 2 == 0 ? Self.programs.reversed() : Self.programs
            for program in programs { try build(program) }
            for _ in 0..<Self.startsPerRound {
                for program in programs { try start(program) }
            }
        }
        say(
            """
            End: \(Machine.description). Medians of \(options.rounds) builds and \
            \(options.rounds * Self.startsPerRound) starts in turn.

            | Figure | GRDB 7.10 | Strongroom | Ratio | |
            | --- | --- | --- | --- | --- |
            """)
        for figure in Figure.allCases { sayRow(figure) }
    }

    /// Builds in a folder of its own that has the sources of dependencies and nothing else.
    private mutating func build(_ program: Program) throws {
        let name = program.executable("Hello"), scratch = URL(fileURLWithPath: options.folder + "/" + name)
        defer { try? FileManager.default.removeItem(at: scratch) }
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        for part in ["checkouts", "repositories", "workspace-state.json"] {
            try FileManager.default.copyItem(
                at: URL(fileURLWithPath: ".build/" + part), to: scratch.appendingPathComponent(part))
        }
        let words = ["swift", "build", "-c", "release", "--product", name, "--scratch-path", scratch.path]
        add(try time(words), .cleanBuild, program)
        try FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: "Sources/\(name)/main.swift")
        add(try time(words), .incrementalBuild, program)
        let built = scratch.path + "/release/" + name
        _ = try time(["strip", built])
        let size = try FileManager.default.attributesOfItem(atPath: built)[.size] as? Int
        add(Double(size!), .size, program)
    }

    private mutating func start(_ program: Program) throws {
        let start = now()
        let output = try runner.output(program.executable("Hello"), [])
        guard let opened = output.split(separator: " ").first.flatMap({ Double($0) }) else {
            Options.fail("\(program.title) says \(output)")
        }
        add(opened - start, .start, program)
    }

    private mutating func add(_ value: Double, _ figure: Figure, _ program: Program) {
        values[figure, default: [:]][program, default: []].append(value)
    }

    /// The seconds that a command takes.
    private func time(_ words: [String]) throws -> Double {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        let start = now()
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { Options.fail("\(words.joined(separator: " ")) failed") }
        return now() - start
    }

    private func sayRow(_ figure: Figure) {
        let (peer, own) = (values[figure]![.grdb]!, values[figure]![.strongroom]!)
        let cells = [
            figure.title, Table.text(Measurement.median(peer), figure.unit),
            Table.text(Measurement.median(own), figure.unit), Table.ratio(own, to: peer),
            Table.standing(own, against: peer),
        ]
        say(Table.markdown(cells))
    }
}
