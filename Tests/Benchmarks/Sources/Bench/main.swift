import Foundation
import Workload

// Runs the programs in turn, C, Strongroom, GRDB, C, …, and compares medians.
//
// usage: Bench FOLDER LIBSQLCIPHER [--rounds N] [--json FILE] [ITEM …]

struct Options {
    var folder: String
    var library: String
    var rounds = 5
    var json: String?
    var items: [Item] = []

    init() {
        var words = CommandLine.arguments.dropFirst()
        guard words.count >= 2 else { fatalError("usage: Bench FOLDER LIBSQLCIPHER [--rounds N] [--json FILE] [ITEM …]") }
        folder = words.removeFirst()
        library = words.removeFirst()
        while let word = words.popFirst() {
            switch word {
            case "--rounds": rounds = Int(words.removeFirst())!
            case "--json": json = words.removeFirst()
            default: items.append(Item(rawValue: word)!)
            }
        }
        if items.isEmpty { items = Item.allCases }
    }
}

enum Program: String, CaseIterable {
    case c = "BenchC"
    case strongroom = "BenchStrongroom"
    case grdb = "BenchGRDB"
}

struct Measurement: Codable {
    let item: String
    let size: Int
    let budget: Double
    /// Seconds of each round, by program.
    var seconds: [String: [Double]] = [:]

    func median(_ program: Program) -> Double {
        let sorted = seconds[program.rawValue]!.sorted()
        return sorted[sorted.count / 2]
    }

    /// The ratio to C of the same round: least, median, most.
    func ratios(_ program: Program) -> (Double, Double, Double) {
        let ratios = zip(seconds[program.rawValue]!, seconds[Program.c.rawValue]!).map { $0 / $1 }.sorted()
        return (ratios.first!, ratios[ratios.count / 2], ratios.last!)
    }
}

let options = Options()
let binaries = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
let file = options.folder + "/bench.sqlite"

func run(_ program: Program, _ words: [String]) throws -> String {
    let process = Process()
    process.executableURL = binaries.appendingPathComponent(program.rawValue)
    process.arguments = words
    if program == .grdb {
        process.environment = ProcessInfo.processInfo.environment.merging(["LD_PRELOAD": options.library]) { $1 }
    }
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { fatalError("\(program.rawValue) \(words) failed") }
    return String(decoding: output, as: UTF8.self)
}

func seconds(_ program: Program, _ item: Item, _ size: Int) throws -> Double {
    let words = try run(program, [item.rawValue, String(size), file]).split(whereSeparator: \.isWhitespace)
    guard let check = Int64(words[1]), check == item.expectedCheck(size: size) else {
        fatalError("\(program.rawValue) did not do \(item.rawValue) \(size): \(words)")
    }
    return Double(words[0])!
}

func cell(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

func number(_ value: Double, _ digits: Int = 2) -> String { String(format: "%.\(digits)f", value) }

_ = try run(.c, ["prepare", "0", file])
print("""
    Times are medians of \(options.rounds) rounds in turn, ratios are to plain C in the same round (least–most).

    \(cell("C ms", 42))\(cell("Strongroom", 24))\(cell("GRDB 7.10", 24))\(cell("budget", 9))
    """)
var measurements: [Measurement] = []
for item in options.items {
    print(item.title)
    for size in item.sizes {
        var measurement = Measurement(item: item.rawValue, size: size, budget: item.budget)
        for round in 0...options.rounds {
            for program in Program.allCases {
                let time = try seconds(program, item, size)
                // The first round warms up.
                if round > 0 { measurement.seconds[program.rawValue, default: []].append(time) }
            }
        }
        measurements.append(measurement)
        let cells = [Program.strongroom, .grdb].map { program in
            let (least, median, most) = measurement.ratios(program)
            return cell("\(number(median)) (\(number(least))–\(number(most)))", 24)
        }
        let isLast = size == item.sizes.last
        let verdict = isLast ? cell(number(item.budget), 9) + (measurement.ratios(.strongroom).1 <= item.budget ? "  met" : "  MISSED") : ""
        print(cell("\(size)", 12) + cell(number(measurement.median(.c) * 1000), 30) + cells.joined() + verdict)
    }
}
if let json = options.json {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    try encoder.encode(measurements).write(to: URL(fileURLWithPath: json))
}
