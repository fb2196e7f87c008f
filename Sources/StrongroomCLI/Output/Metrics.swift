import Foundation

/// A figure for monitoring, with a value for each set of labels.
struct Metric {
    let name: String
    let help: String
    let values: [(labels: [(String, String)], value: Double)]

    init(_ name: String, _ help: String, _ values: [([(String, String)], Double)]) {
        (self.name, self.help) = (name, help)
        self.values = values.map { (labels: $0.0, value: $0.1) }
    }

    /// The lines in Prometheus' text format. <https://prometheus.io/docs/instrumenting/exposition_formats/>
    var lines: [String] {
        ["# HELP \(name) \(help)", "# TYPE \(name) gauge"]
            + values.map { labels, value in
                let pairs = labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",")
                return "\(name){\(pairs)} \(Self.text(value))"
            }
    }

    /// Returns the text as the value of a label.
    static func escaped(_ text: String) -> String {
        text.replacing(ascii: "\\", with: "\\\\").replacing(ascii: "\"", with: "\\\"")
            .replacing(ascii: "\n", with: "\\n")
    }

    private static func text(_ value: Double) -> String {
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? String(Int64(value)) : String(value)
    }
}

/// A file of figures that a collector reads at any time.
struct MetricsFile {
    private let place: Place

    init(_ name: String) throws { place = try Place(name) }

    func write(_ metrics: [Metric]) throws {
        try write(metrics.flatMap(\.lines).joined(separator: "\n") + "\n")
    }

    func write(_ text: String) throws {
        var text = text
        // Collectors run as another user. The figures contain paths, and no secret.
        try text.withUTF8 { try NewContent(place, mode: 0o644).write(UnsafeRawBufferPointer($0)) }
    }
}
