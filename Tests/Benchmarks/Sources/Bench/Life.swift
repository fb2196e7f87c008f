import CMachine
import Foundation
import Workload

/// Lives the day of an application with GRDB and with Strongroom in turn, and compares what each step uses.
struct Life {
    let options: Options
    private let runner: Runner
    /// The database at the beginning of the day.
    private let morning: String

    init(_ options: Options) throws {
        self.options = options
        runner = try Runner(folder: options.folder, library: options.library)
        morning = options.folder + "/morning.sqlite"
    }

    func run() throws {
        say("Start: \(Machine.description).")
        _ = try runner.output("BenchC", ["prepareDay", morning])
        var usages: [Day.Step: [Program: [Usage]]] = [:]
        // Round 0 warms up. The engines change places each round.
        for round in 0...options.rounds {
            let programs: [Program] = round % 2 == 0 ? [.strongroom, .grdb] : [.grdb, .strongroom]
            for program in programs {
                let day = try day(with: program)
                guard round > 0 else { continue }
                for (step, usage) in day { usages[step, default: [:]][program, default: []].append(usage) }
            }
        }
        say(
            """
            End: \(Machine.description). Medians of \(options.rounds) rounds in turn, after a warm-up. \
            The ratio is Strongroom to GRDB in the same round: median (least–most).

            | Step | Figure | GRDB 7.10 | Strongroom | Ratio | |
            | --- | --- | --- | --- | --- | --- |
            """)
        for step in Day.Step.allCases { sayRows(step, usages[step]!) }
    }

    /// One day, in a process of its own, with a copy of the database that is not in the system's cache.
    private func day(with program: Program) throws -> [(Day.Step, Usage)] {
        let name = "day.sqlite", path = options.folder + "/" + name
        defer { runner.removeFiles(name) }
        try FileManager.default.copyItem(atPath: morning, toPath: path)
        machine_forget_file(path)
        let output = try runner.output(program.executable("Life"), [path, String(now())])
        let day = output.split(separator: "\n").compactMap(parse)
        guard day.map(\.0) == Day.Step.allCases else { Options.fail("\(program.title) says \(output)") }
        return day
    }

    /// Nil if the step was not done.
    private func parse(_ line: Substring) -> (Day.Step, Usage)? {
        let words = line.split(separator: " ")
        let values = words.dropFirst(2).compactMap { Double($0) }
        guard let step = words.first.flatMap({ Day.Step(rawValue: String($0)) }), words.count > 1,
            Int64(words[1]) == step.expectedCheck, values.count == Usage.Figure.allCases.count
        else { return nil }
        return (step, Usage(Dictionary(uniqueKeysWithValues: zip(Usage.Figure.allCases, values))))
    }

    private func sayRows(_ step: Day.Step, _ usages: [Program: [Usage]]) {
        for (index, figure) in Usage.Figure.allCases.enumerated() {
            let (peer, own) = (values(figure, usages[.grdb]!), values(figure, usages[.strongroom]!))
            let cells = [
                index == 0 ? step.title : "…", figure.title, figure.text(Measurement.median(peer)),
                figure.text(Measurement.median(own)), Table.ratio(own, to: peer), Table.standing(own, against: peer),
            ]
            say(Table.markdown(cells))
        }
    }

    private func values(_ figure: Usage.Figure, _ usages: [Usage]) -> [Double] { usages.map { $0.figures[figure]! } }
}

extension Usage.Figure {
    var title: String {
        switch self {
        case .time: "time"
        case .peakMemory: "peak memory"
        case .processorTime: "processor time"
        case .wakeUps: "wake-ups"
        case .bytesWritten: "bytes written"
        }
    }

    func text(_ value: Double) -> String {
        switch self {
        case .time, .processorTime: Table.text(value, .seconds)
        case .peakMemory, .bytesWritten: Table.text(value, .bytes)
        case .wakeUps: Table.grouped(Int(value))
        }
    }
}
