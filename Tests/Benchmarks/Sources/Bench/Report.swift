import Foundation
import Workload

/// The figures for other programs to read.
struct Report: Codable {
    struct Entry: Codable {
        struct Figures: Codable {
            let values: [Double]
            let median: Double
            let ratioToC: Double?
            /// Of the least times of both, which other programs disturb least.
            let ratioOfLeast: Double?
        }

        let item, title, measure, unit: String
        let size: Int
        let programs: [String: Figures]
        let budget: Double?
        let met: Bool?
    }

    let machine: Machine
    let rounds: Int
    let results: [Entry]

    init(machine: Machine, rounds: Int, measurements: [Measurement]) {
        self.machine = machine
        self.rounds = rounds
        results = measurements.map { measurement in
            let (item, measure) = (measurement.item, measurement.measure)
            let isLast = measurements.last { $0.item == item }?.size == measurement.size
            let verdict = isLast ? measurements.verdict(item, measure) : nil
            let figures = measurement.values.map { program, values in
                let ratio = measure.comparesWithC ? measurement.spread(program).median : nil
                let least = measure.comparesWithC ? values.min()! / measurement.values[.c]!.min()! : nil
                return (
                    program.rawValue,
                    Entry.Figures(
                        values: values, median: measurement.median(program), ratioToC: ratio, ratioOfLeast: least)
                )
            }
            return Entry(
                item: item.rawValue, title: item.title, measure: measure.name, unit: measure.unit.rawValue,
                size: measurement.size,
                programs: Dictionary(uniqueKeysWithValues: figures), budget: verdict?.limit, met: verdict?.isMet)
        }
    }

    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: path))
    }
}
