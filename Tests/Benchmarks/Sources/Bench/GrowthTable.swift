import Foundation
import Workload

/// A table of the cost of a unit of work at several sizes.
struct GrowthTable {
    let options: Options
    private let runner: Runner
    /// The number of changes of the present file's key.
    private var turn = 0

    init(_ options: Options) throws {
        self.options = options
        runner = try Runner(folder: options.folder, library: options.library)
    }

    mutating func run() throws {
        say(
            """
            Start: \(Machine.description). Medians of \(options.rounds) rounds in turn, of one for files of 1,000 MB \
            and more. The last column is the cost at the last size divided by that at the first.

            | Quantity | Cost of a … | Engine | Size: cost | | | | | Last/first |
            | --- | --- | --- | --- | --- | --- | --- | --- | --- |
            """)
        for growth in Growth.allCases { try measure(growth) }
        say("\nEnd: \(Machine.description).")
    }

    private mutating func measure(_ growth: Growth) throws {
        var costs: [Program: [Double]] = [:]
        let sizes = options.sizes(growth)
        let programs: [Program] = growth == .keySlots ? [.strongroom] : [.grdb, .strongroom]
        for size in sizes {
            for (program, values) in try measure(growth, size, programs) {
                costs[program, default: []].append(Measurement.median(values))
            }
        }
        for program in programs { sayRow(growth, program, sizes, costs[program]!) }
    }

    /// All rounds at a size.
    private mutating func measure(
        _ growth: Growth, _ size: Int, _ programs: [Program]
    ) throws -> [Program: [Double]] {
        let name = "growth.sqlite", path = options.folder + "/" + name
        turn = 0
        if growth.needsFile { _ = try runner.output("BenchC", ["prepareRotation", String(size), path]) }
        defer { runner.removeFiles(name) }
        var costs: [Program: [Double]] = [:]
        for _ in 0..<(growth.needsFile && size >= 1_000 ? 1 : options.rounds) {
            for program in programs {
                let words = ["growth", growth.rawValue, String(size), path, String(turn)]
                let output = try runner.output(program.rawValue, words)
                guard let cost = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                    Options.fail("\(program.title) says \(output)")
                }
                costs[program, default: []].append(cost)
                if growth == .rotation { turn += 1 }
                runner.removeFiles(growth.needsFile ? name + ".backup" : name)
            }
        }
        return costs
    }

    private func sayRow(_ growth: Growth, _ program: Program, _ sizes: [Int], _ costs: [Double]) {
        let cells = zip(sizes, costs).map { "\(Table.grouped($0)): \(Table.text($1, .seconds))" }
        let empty = Array(repeating: "", count: 5 - cells.count)
        let ratio = Table.number(costs.last! / costs.first!)
        say(Table.markdown([growth.title, growth.unit, program.title] + cells + empty + [ratio]))
    }
}
