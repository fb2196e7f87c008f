// Rows for the tables of the article about benchmarks.

extension Table {
    static func markdown(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }

    /// The ratios of values to those of the same round: median, least and most.
    static func ratio(_ values: [Double], to others: [Double]) -> String {
        guard let spread = ratios(values, others) else { return "" }
        return "\(number(spread.median)) (\(number(spread.least))–\(number(spread.most)))"
    }

    /// A word where the values are not less than the others.
    static func standing(_ values: [Double], against others: [Double]) -> String {
        guard let spread = ratios(values, others), spread.median > 0.995 else { return "" }
        return spread.median < 1.005 ? "equal" : "behind"
    }

    /// Nil if there is nothing to divide by.
    private static func ratios(_ values: [Double], _ others: [Double]) -> Spread? {
        guard others.allSatisfy({ $0 > 0 }) else { return nil }
        let ratios = zip(values, others).map { $0 / $1 }
        return Spread(least: ratios.min()!, median: Measurement.median(ratios), most: ratios.max()!)
    }
}
