import Foundation
import Workload

/// Compares the programs of two commits, A and B, on the items.
///
/// In each round A runs twice, around B or beside it, so that the round has two ratios: B to A, and A to itself. The
/// second one is noise alone. B is faster or slower only if both hold:
///
/// - The ratio of B to A is on the same side of 1 in so many rounds that a coin would do it once in a hundred times.
/// - Its median is farther from 1 than those of A to itself are in three of four rounds.
struct CommitComparison {
    private let options: Options
    private var runner: Runner
    private let programs: (a: String, b: String)

    init(_ options: Options) throws {
        self.options = options
        runner = try Runner(folder: options.folder, library: options.library)
        programs = (options.programs[0], options.programs[1])
    }

    mutating func run() throws {
        say("\(Machine.description); B against A in \(options.rounds) rounds: median (least–most)")
        try runner.prepare(chinook: options.chinook)
        for item in options.items where item != .rotation { try compare(item) }
        say("load at the end \(Machine.load.map(Table.number) ?? "unknown")")
    }

    private mutating func compare(_ item: Item) throws {
        guard let size = options.sizes(item).last else { return }
        var rounds: [[Round]] = item.measures.map { _ in [] }
        for number in 0...options.rounds {
            // B, and the two runs of A, take each place in turn.
            let places = [[0, 1, 2], [2, 0, 1], [1, 2, 0]][number % 3]
            var values: [[Double]] = [[], [], []]
            for place in places {
                values[place] = try runner.outcome(place == 1 ? programs.b : programs.a, item, size).values
            }
            // Round 0 warms up.
            guard number > 0 else { continue }
            for index in rounds.indices {
                rounds[index].append(Round(a: values[0][index], b: values[1][index], again: values[2][index]))
            }
        }
        for (measure, rounds) in zip(item.measures, rounds) {
            let verdict = Verdict(rounds)
            let name = item.rawValue + (item.measures.count > 1 ? " " + measure.name : "")
            say("\(name): \(verdict.ratio) \(verdict.word); A against itself \(verdict.noise)")
        }
    }
}

/// The values of one round.
struct Round {
    let a, b, again: Double

    var ratio: Double { b / ((a + again) / 2) }
    var noise: Double { again / a }
}

/// The verdict on several rounds.
struct Verdict {
    private let ratios, noises: [Double]

    init(_ rounds: [Round]) {
        ratios = rounds.map(\.ratio)
        noises = rounds.map(\.noise)
    }

    var ratio: String { Verdict.text(ratios) }
    var noise: String { Verdict.text(noises) }

    var word: String {
        let median = Measurement.median(ratios)
        let slower = ratios.filter { $0 > 1 }.count
        let isFirm = Verdict.chance(of: max(slower, ratios.count - slower), in: ratios.count) < 0.01
        guard isFirm, abs(log(median)) > spreadOfNoise else { return "no difference that noise can't give" }
        return median > 1 ? "SLOWER" : "FASTER"
    }

    /// The distance from 1 that three of four ratios of A to itself don't reach.
    private var spreadOfNoise: Double {
        let distances = noises.map { abs(log($0)) }.sorted()
        return distances[min(distances.count - 1, distances.count * 3 / 4)]
    }

    /// The chance that at least so many of the throws of a coin, or as many of the other side, are alike.
    static func chance(of alike: Int, in throwsOfCoin: Int) -> Double {
        var ways = 1.0, sum = 0.0
        for heads in 0...throwsOfCoin {
            if heads > 0 { ways = ways * Double(throwsOfCoin - heads + 1) / Double(heads) }
            if heads >= alike { sum += ways }
        }
        return min(1, 2 * sum / pow(2, Double(throwsOfCoin)))
    }

    private static func text(_ values: [Double]) -> String {
        let numbers = [Measurement.median(values), values.min()!, values.max()!].map { String(format: "%.3f", $0) }
        return "\(numbers[0]) (\(numbers[1])–\(numbers[2]))"
    }
}
