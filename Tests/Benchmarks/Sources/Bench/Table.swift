import Foundation
import Workload

/// The table on the terminal, row by row as the figures come.
enum Table {
    static let head =
        pad("", 26) + right("C", 12) + right("Strongroom", 26) + right("GRDB 7.10", 26) + right("budget", 10)

    static func row(_ measurement: Measurement, verdict: (value: Double, limit: Double, isMet: Bool)?) -> String {
        let measure = measurement.measure
        let name = measure.name == "time" ? "" : " \(measure.name)"
        let label = "  \(grouped(measurement.size))\(name)"
        let cells = [Program.strongroom, .grdb].map { right(text(measurement.spread($0), measure), 26) }.joined()
        return pad(label, 26) + right(text(measurement.median(.c), measure.unit), 12) + cells + end(measure, verdict)
    }

    private static func end(_ measure: Measure, _ verdict: (value: Double, limit: Double, isMet: Bool)?) -> String {
        guard let verdict, let budget = measure.budget else { return "" }
        let limit =
            switch budget {
            case .timesC(let limit): number(limit)
            case .atMost(let limit): "≤ " + text(limit, measure.unit)
            case .growth(let limit): "× \(number(limit))"
            }
        let shown =
            switch budget {
            case .timesC: ""
            case .atMost: measure.comparesWithC ? " (\(text(verdict.value, measure.unit)))" : ""
            case .growth: " (× \(number(verdict.value)))"
            }
        return right(limit, 10) + (verdict.isMet ? "  met" : "  MISSED") + shown
    }

    private static func text(_ spread: Spread, _ measure: Measure) -> String {
        if measure.comparesWithC || measure.unit == .ratio {
            return "\(number(spread.median)) (\(number(spread.least))–\(number(spread.most)))"
        }
        return text(spread.median, measure.unit)
    }

    static func text(_ value: Double, _ unit: Measure.Unit) -> String {
        switch unit {
        case .ratio: return number(value)
        case .bytes: return String(format: "%.1f MB", value / 1e6)
        case .seconds:
            if value >= 1 { return String(format: "%.2f s", value) }
            return value >= 0.001 ? String(format: "%.2f ms", value * 1e3) : String(format: "%.1f µs", value * 1e6)
        }
    }

    static func number(_ value: Double) -> String {
        String(format: value >= 10 ? "%.1f" : "%.2f", value)
    }

    static func grouped(_ size: Int) -> String {
        let digits = String(size)
        guard digits.count > 3 else { return digits }
        let parts = stride(from: digits.count, to: 0, by: -3).map { end in
            let upper = digits.index(digits.startIndex, offsetBy: end)
            let lower = digits.index(digits.startIndex, offsetBy: max(0, end - 3))
            return String(digits[lower..<upper])
        }
        return parts.reversed().joined(separator: ",")
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
