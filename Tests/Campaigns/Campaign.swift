import Foundation
import Strongroom
import TestSupport

/// The cases of one campaign: counts them, collects what must not be, and tells which case it was.
final class Campaign {
    private(set) var options: Options
    private(set) var cases = 0
    private var tally: [String: Int] = [:]
    private var findings: [String] = []
    private let began = Date()
    private var current: FileHandle

    init(_ options: Options) throws {
        self.options = options
        // A hang shows where it is.
        signal(SIGALRM) { _ in abort() }
        let path = options.folder + "/case"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        current = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    /// Runs a case, unless another one was asked for, or only some of them.
    func run(_ name: String, _ body: () throws -> String) {
        if let after = options.after {
            if after == name { options.after = nil }
            return
        }
        if let only = options.only {
            if only != name { return }
        } else if Int.random(in: 0..<options.sample, using: &Self.random) != 0 {
            return
        }
        note(name)
        cases += 1
        do {
            tally[try body(), default: 0] += 1
        } catch {
            findings.append("\(name): \(error)")
            print("FINDING \(name): \(error)")
            fflush(nil)
            if findings.count == 50 { end() }
        }
    }

    nonisolated(unsafe) static var random = SeededGenerator(seed: 1)

    /// Says which case it is, for the case that the process ends by it. A hang ends it, too.
    private func note(_ name: String) {
        alarm(120)
        try? current.truncate(atOffset: 0)
        try? current.seek(toOffset: 0)
        try? current.write(contentsOf: Data(name.utf8))
    }

    /// True if the stock shell is asked about this case.
    var asksShell: Bool { cases % options.shellEvery == 0 }

    /// Lets the next scenario begin.
    func say(_ scenario: Scenario) {
        if options.only == nil, options.sample == 1 { print("\(scenario.name) after \(cases) cases") }
        fflush(nil)
    }

    /// Prints what there was, and ends the process.
    func end() -> Never {
        let parts = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        let seconds = Int(Date().timeIntervalSince(began))
        print("\(options.campaign): \(cases) cases in \(seconds) s (\(parts)), \(findings.count) findings")
        exit(findings.isEmpty && cases > 0 ? EXIT_SUCCESS : EXIT_FAILURE)
    }
}

/// Arguments that make no sense.
struct Usage: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The request of the command line.
struct Options {
    var campaign = ""
    var folder = ""
    var scenarios: [String] = []
    /// One of so many cases is run, chosen by the seed.
    var sample = 1
    var seed: UInt64 = 13
    var count: Int?
    var only: String?
    /// The cases up to this one are left out.
    var after: String?
    var shellEvery = 16
    /// The remaining arguments: those of the processes that campaigns start.
    var rest: [String] = []

    init(_ arguments: [String]) throws {
        guard arguments.count >= 2 else { throw Usage("usage: Campaigns NAME FOLDER [OPTIONS]") }
        (campaign, folder) = (arguments[0], arguments[1])
        var index = 2
        while index < arguments.count {
            let name = arguments[index]
            guard name.hasPrefix("--") else {
                rest = Array(arguments[index...])
                break
            }
            guard index + 1 < arguments.count else { throw Usage("\(name) needs a value") }
            try set(name, arguments[index + 1])
            index += 2
        }
    }

    private mutating func set(_ name: String, _ value: String) throws {
        switch name {
        case "--scenario": scenarios.append(value)
        case "--case": only = value
        case "--after": after = value
        case "--sample": sample = max(1, Int(value) ?? 1)
        case "--seed": seed = UInt64(value) ?? seed
        case "--count": count = Int(value)
        case "--shell-every": shellEvery = max(1, Int(value) ?? 1)
        default: throw Usage("there is no option \(name)")
        }
    }
}
