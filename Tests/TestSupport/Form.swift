import Foundation

/// Which cases of an exhaustive suite run: a selection by default, all of them where `STRONGROOM_TESTS` is `all`, as
/// `scripts/test --all` sets it. A selection prints what it leaves out, which `scripts/test` repeats at its end.
public enum Form {
    /// True if nothing is left out.
    public static let isWhole = ProcessInfo.processInfo.environment["STRONGROOM_TESTS"] == "all"

    /// One row for each outcome.
    public static func rows<Row, Outcome: Hashable>(
        _ subject: String, of all: [Row], oneForEach outcome: (Row) -> Outcome
    ) -> [Row] {
        var seen: Set<Outcome> = []
        return select(subject, of: all) { _, row in seen.insert(outcome(row)).inserted }
    }

    /// So many rows that each value of a factor meets each value of each other factor once.
    ///
    /// - parameter factors: the values of a row, in the same order for all rows.
    public static func pairwise<Row>(
        _ subject: String, of all: [Row], by factors: (Row) -> [String]
    ) -> [Row] {
        var met: Set<[String]> = []
        return select(subject, of: all) { _, row in
            let values = factors(row).enumerated().map { "\($0.offset) \($0.element)" }
            let pairs = values.indices.flatMap { first in
                values[(first + 1)...].map { [values[first], $0] }
            }
            defer { met.formUnion(pairs) }
            return !met.isSuperset(of: pairs)
        }
    }

    /// The first, the last, and every `step`th.
    public static func every(_ step: Int64, of all: Range<Int64>, _ subject: String) -> [Int64] {
        let step = self.step(step, subject)
        return all.filter { ($0 - all.lowerBound) % step == 0 || $0 == all.upperBound - 1 }
    }

    /// The distance between two cases of a loop: 1 where nothing is left out.
    public static func step(_ step: Int64, _ subject: String) -> Int64 {
        if isWhole { return 1 }
        print("left out: all but one of \(step) \(subject)")
        return step
    }

    private static func select<Row>(_ subject: String, of all: [Row], _ isChosen: (Int, Row) -> Bool) -> [Row] {
        if isWhole { return all }
        let chosen = all.enumerated().filter { isChosen($0.offset, $0.element) }.map(\.element)
        print("left out: \(all.count - chosen.count) of \(all.count) \(subject)")
        return chosen
    }
}
