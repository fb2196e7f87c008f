import Foundation
import Workload

/// The results of all rounds for one measure of one item at one size.
struct Measurement {
    let item: Item
    let size: Int
    let measure: Measure
    /// By program, in the order of the rounds.
    var values: [Program: [Double]] = [:]

    func median(_ program: Program) -> Double { Measurement.median(values[program]!) }

    /// Least, median and most of the values, or of their ratios to C's value in the same round.
    func spread(_ program: Program) -> Spread {
        let own = values[program]!
        let figures = measure.comparesWithC ? zip(own, values[.c]!).map { $0 / $1 } : own
        return Spread(least: figures.min()!, median: Measurement.median(figures), most: figures.max()!)
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}

struct Spread {
    let least, median, most: Double
}

extension Measure {
    /// Times are compared with C's; what is a ratio already, or memory, stands for itself.
    var comparesWithC: Bool { unit == .seconds }
}

extension [Measurement] {
    /// The verdict on the largest size of an item, with the value that counts; nil where there is no budget.
    func verdict(_ item: Item, _ measure: Measure) -> (value: Double, limit: Double, isMet: Bool)? {
        let own = filter { $0.item == item && $0.measure.name == measure.name }
        guard let budget = measure.budget, let first = own.first, let last = own.last else { return nil }
        let (value, limit) =
            switch budget {
            case .timesC(let limit): (last.spread(.strongroom).median, limit)
            case .atMost(let limit): (last.median(.strongroom), limit)
            case .growth(let limit): (last.median(.strongroom) / first.median(.strongroom), limit)
            }
        let isAheadOfPeer = measure.mostOfPeer.map { last.median(.strongroom) <= $0 * last.median(.grdb) } ?? true
        return (value, limit, value <= limit && isAheadOfPeer)
    }
}
