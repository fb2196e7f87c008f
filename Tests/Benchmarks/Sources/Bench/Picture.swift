import Foundation
import Workload

/// Bars of time against plain C, as SVG, for every item that has such a budget.
struct Picture {
    private let bars: [(title: String, strongroom: Double, grdb: Double, budget: Double)]
    private let machine: Machine

    private let left = 380.0, width = 440.0, rowHeight = 46.0, top = 64.0
    /// The bars' scale is logarithmic: from 1, which is C, to 64.
    private let most = 64.0

    init(_ measurements: [Measurement], machine: Machine) {
        self.machine = machine
        bars = Item.allCases.compactMap { item in
            guard let measure = item.measures.first, case .timesC(let budget)? = measure.budget,
                let counted = measurements.last(where: { $0.item == item && $0.measure.name == measure.name })
            else { return nil }
            return (item.title, counted.spread(.strongroom).median, counted.spread(.grdb).median, budget)
        }
    }

    func write(to path: String) throws {
        try svg.write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func x(_ ratio: Double) -> Double {
        left + width * log2(min(max(ratio, 1), most)) / log2(most)
    }

    private var svg: String {
        let height = top + rowHeight * Double(bars.count) + 44
        let rows = bars.enumerated().map { row($1, y: top + rowHeight * Double($0)) }.joined(separator: "\n")
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(left + width + 80)) \(Int(height))" \
            font-family="system-ui, sans-serif" font-size="13">
            <style>
            text { fill: #333 } .faint { fill: #777 } line { stroke: #ccc } \
            .s { fill: #2a6f97 } .g { fill: #c0b8a8 } .b { stroke: #c1121f; stroke-width: 2 }
            @media (prefers-color-scheme: dark) { text { fill: #ddd } .faint { fill: #999 } line { stroke: #444 } \
            .s { fill: #61a5c2 } .g { fill: #6b6558 } }
            </style>
            <text x="12" y="22" font-size="15" font-weight="600">Time against plain C on SQLCipher, same work, \
            same encrypted file (logarithmic)</text>
            <rect class="s" x="12" y="34" width="12" height="10"/><text x="30" y="44">Strongroom</text>
            <rect class="g" x="122" y="34" width="12" height="10"/><text x="140" y="44">GRDB 7.10</text>
            <line class="b" x1="232" y1="33" x2="232" y2="46"/><text x="240" y="44">budget</text>
            \(axis(height: height))
            \(rows)
            <text class="faint" x="12" y="\(Int(height - 10))" font-size="11">Medians. \(machine.cores) cores, \
            \(escaped(machine.processor)). Smaller is better; 1 is C.</text>
            </svg>

            """
    }

    private func axis(height: Double) -> String {
        [1, 2, 4, 8, 16, 32, 64].map { ratio in
            let x = Picture.text(x(Double(ratio)))
            return """
                <line x1="\(x)" y1="\(Int(top - 6))" x2="\(x)" y2="\(Int(height - 36))"/>\
                <text class="faint" x="\(x)" y="\(Int(height - 24))" text-anchor="middle" font-size="11">\(ratio)</text>
                """
        }.joined(separator: "\n")
    }

    private func row(_ bar: (title: String, strongroom: Double, grdb: Double, budget: Double), y: Double) -> String {
        let budget = Picture.text(x(bar.budget))
        return """
            <text x="\(Int(left - 12))" y="\(Int(y + 21))" text-anchor="end">\(escaped(bar.title))</text>
            \(rectangle("s", bar.strongroom, y: y + 2))
            \(rectangle("g", bar.grdb, y: y + 18))
            <line class="b" x1="\(budget)" y1="\(Int(y - 1))" x2="\(budget)" y2="\(Int(y + 34))"/>
            """
    }

    private func rectangle(_ kind: String, _ ratio: Double, y: Double) -> String {
        let end = x(ratio)
        return """
            <rect class="\(kind)" x="\(Int(left))" y="\(Int(y))" width="\(Picture.text(max(end - left, 1)))" \
            height="13"/>\
            <text x="\(Picture.text(end + 7))" y="\(Int(y + 11))" font-size="11">\(Table.number(ratio))</text>
            """
    }

    private static func text(_ value: Double) -> String { String(format: "%.1f", value) }

    private func escaped(_ text: String) -> String {
        text.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
    }
}
