import Foundation
import Workload

/// Runs the programs in turn, C, Strongroom, GRDB, C, …, and compares medians.
struct Comparison {
    let options: Options
    private var runner: Runner
    private let machine = Machine()
    private var measurements: [Measurement] = []

    init(_ options: Options) throws {
        self.options = options
        runner = try Runner(folder: options.folder, library: options.library)
    }

    mutating func run() throws {
        sayConditions()
        try runner.prepare(chinook: options.chinook)
        for item in options.items { try measure(item) }
        sayEnd()
        if let json = options.json {
            try Report(machine: machine, rounds: options.rounds, measurements: measurements).write(to: json)
        }
        if let picture = options.picture {
            try Picture(measurements, machine: machine).write(to: picture)
        }
    }

    private func sayConditions() {
        let load = Machine.load
        say(
            """
            \(machine.cores) cores, \(machine.processor); load at the start \(load.map(Table.number) ?? "unknown")
            One core here: AES-256-CBC \(rate(machine.aes256CBCEncryption)) encrypting, \
            \(rate(machine.aes256CBCDecryption)) decrypting; \
            HMAC-SHA512 \(rate(machine.hmacSHA512)); all that a change of key needs, \(rate(machine.rotationLimit))
            Medians of \(options.rounds) rounds in turn, after a warm-up. Ratios are to plain C in the same round: \
            median (least–most).
            """)
        if let load, load > 1 {
            say("Other programs are at work on this machine: differences of ten per cent are noise.")
        }
        say("\n\(Table.head)")
    }

    private func sayEnd() {
        say("\nload at the end \(Machine.load.map(Table.number) ?? "unknown")")
        let missed = options.items.flatMap { item in item.measures.map { (item, $0) } }
            .filter { measurements.verdict($0, $1)?.isMet == false }
        let names = missed.map { $0.0.rawValue }.joined(separator: ", ")
        say(missed.isEmpty ? "all budgets met" : "budgets missed: \(names)")
    }

    private mutating func measure(_ item: Item) throws {
        say(item.title)
        let sizes = options.sizes(item)
        for size in sizes {
            let fresh = try measure(item, size, rounds: item.rounds(of: options.rounds, size: size))
            measurements += fresh
            for measurement in fresh {
                let verdict = size == sizes.last ? measurements.verdict(item, measurement.measure) : nil
                say(Table.row(measurement, verdict: verdict))
            }
        }
        if !options.isQuick, sizes.count < item.sizes.count { say("  too little room on the disk for more") }
        for note in notes(item) { say("  \(note)") }
    }

    /// All rounds of an item at a size: one measurement for each of its measures.
    private mutating func measure(_ item: Item, _ size: Int, rounds: Int) throws -> [Measurement] {
        var measurements = item.measures.map { Measurement(item: item, size: size, measure: $0) }
        if item == .rotation { try runner.prepareRotation(megabytes: size) }
        for round in (item.warmsUp(size: size) ? 0 : 1)...rounds {
            var checkOfC: Int64 = 0
            for program in Program.allCases {
                let outcome = try runner.outcome(program, item, size)
                if program == .c { checkOfC = outcome.check }
                guard outcome.check == checkOfC, outcome.check > 0 else {
                    Options.fail("\(program.rawValue) did not do \(item) \(size): \(outcome.check), and C \(checkOfC)")
                }
                // Round 0 warms up.
                guard round > 0 else { continue }
                for (index, value) in outcome.values.enumerated() {
                    measurements[index].values[program, default: []].append(value)
                }
            }
        }
        if item == .rotation { try runner.removeRotation(megabytes: size) }
        return measurements
    }

    /// Figures that the ratios don't show.
    private func notes(_ item: Item) -> [String] {
        let own = measurements.filter { $0.item == item }
        switch item {
        case .concurrentReaders, .concurrentScans:
            return own.dropFirst().map { measurement in
                let gains = Program.allCases.map { program in
                    let gain =
                        own[0].median(program) / measurement.median(program) * Double(measurement.size)
                        / Double(own[0].size)
                    return "\(program.title) \(Table.number(gain))"
                }
                return "throughput of \(measurement.size) readers against one: \(gains.joined(separator: ", "))"
            }
        case .rotation:
            return own.map { measurement in
                let rates = Program.allCases.map { program in
                    "\(program.title) \(rate(Double(measurement.size) * 1e6 / measurement.median(program)))"
                }
                return """
                    \(measurement.size) MB: \(rates.joined(separator: ", ")); \
                    the crypto alone \(rate(machine.rotationLimit))
                    """
            }
        default: return []
        }
    }
}

/// Immediately, also into a pipe.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func rate(_ bytesPerSecond: Double) -> String { String(format: "%.0f MB/s", bytesPerSecond / 1e6) }
