import CStrongroomFaults
import Foundation
import Strongroom

/// One connection stops in front of each of its locks and calls of shared memory in turn, while another one does
/// something to its end: in the same process, and in another one.
struct Interleavings {
    let campaign: Campaign

    private static let first = [
        "write-wal", "write-delete", "checkpoint", "migrate-schema", "rotate-wal", "backup", "vacuum-into",
    ]
    private static let second = ["write-wal", "checkpoint", "rotate-wal", "vacuum-into"]

    func run() throws {
        let names = campaign.options.scenarios
        // A name stands for all scenarios that begin with it, too.
        for first in try Scenario.named(names.isEmpty ? Self.first : names)
        where !names.isEmpty || Self.first.contains(first.name) {
            campaign.say(first)
            let model = Place(folder: campaign.options.folder + "/model"), ledger = try first.makeModel(model)
            for second in Self.second {
                for elsewhere in [false, true] {
                    try interleave(first, try Scenario.named([second])[0], elsewhere, model, ledger)
                }
            }
        }
    }

    private func interleave(
        _ first: Scenario, _ second: Scenario, _ elsewhere: Bool, _ model: Place, _ ledger: Ledger
    ) throws {
        let other = elsewhere ? try OtherProcess(campaign.options) : nil
        defer { other?.end() }
        var turn = 0, isReached = true
        while isReached, turn < 10_000 {
            campaign.run("\(first.name) \(second.name) \(elsewhere ? "elsewhere" : "here") \(turn)") {
                let result = try Interleaving(
                    first: first, second: second, turn: turn, other: other, campaign: campaign
                ).run(model, ledger)
                isReached = result != "not reached"
                return result
            }
            turn += 1
        }
    }
}

/// One turn of the second connection.
private final class Interleaving {
    let first, second: Scenario
    let turn: Int
    let other: OtherProcess?
    let campaign: Campaign
    private let place: Place
    private var others = Ledger(author: "b")
    private var finding: Finding?
    private var hadTurn = false

    init(first: Scenario, second: Scenario, turn: Int, other: OtherProcess?, campaign: Campaign) {
        (self.first, self.second, self.turn, self.other, self.campaign) = (first, second, turn, other, campaign)
        place = Place(folder: campaign.options.folder + "/work")
    }

    func run(_ model: Place, _ ledger: Ledger) throws -> String {
        try place.become(model)
        var ledger = ledger, result = "both succeeded"
        strongroom_turns_begin(
            Int64(turn), { Unmanaged<Interleaving>.fromOpaque($0!).takeUnretainedValue().takeTurn() },
            Unmanaged.passUnretained(self).toOpaque())
        do { try first.act(place, &ledger) } catch { result = try Interleaving.clear(error) }
        strongroom_turns_end()
        if let finding { throw finding }
        guard hadTurn else { return "not reached" }
        if result == "both succeeded", failed { result = "the other one failed" }
        try judge(ledger)
        return result
    }

    private var failed = false

    private func takeTurn() {
        hadTurn = true
        do {
            if let other {
                (others, failed) = try other.run(second)
            } else {
                failed = try Interleaving.act(second, place, &others)
            }
        } catch {
            finding = error as? Finding ?? Finding("\(error)")
        }
    }

    /// Returns true if it failed, with a clear error.
    static func act(_ scenario: Scenario, _ place: Place, _ ledger: inout Ledger) throws -> Bool {
        do {
            try scenario.act(Place(folder: place.folder, copyName: "copy-b"), &ledger)
            return false
        } catch {
            _ = try clear(error)
            return true
        }
    }

    private static func clear(_ error: any Error) throws -> String {
        guard let error = error as? DatabaseError, error.resultCode != .SQLITE_ERROR else {
            throw Finding("an unclear error: \(error)")
        }
        return "one failed"
    }

    private func judge(_ ledger: Ledger) throws {
        var scenario = first
        scenario.outcomes = [[.old], [.new]]
        var mine = ledger
        mine.outcome = nil
        let asksShell = campaign.asksShell
        try Judge(scenario: scenario, place: place, ledger: mine, others: [others], asksShell: asksShell).judge()
    }
}

/// A process that runs scenarios when it is asked to.
final class OtherProcess {
    private let process = Process()
    private let input = Pipe(), output = Pipe()

    init(_ options: Options) throws {
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["serve", options.folder]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    /// Returns its output, and true if it failed.
    func run(_ scenario: Scenario) throws -> (Ledger, Bool) {
        try input.fileHandleForWriting.write(contentsOf: Data((scenario.name + "\n").utf8))
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count >= 3, let acknowledged = Int(words[0]), let attempted = Int(words[1]) else {
            throw Finding("the other process says \(line)")
        }
        return (Ledger(author: "b", acknowledged: acknowledged, attempted: attempted), words[2] == "failed\n")
    }

    func end() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// The work of that process.
    static func serve(_ options: Options) throws {
        let place = Place(folder: options.folder + "/work")
        while let name = readLine() {
            var ledger = Ledger(author: "b")
            do {
                let failed = try Interleaving.act(Scenario.named([name])[0], place, &ledger)
                print(ledger.acknowledged, ledger.attempted, failed ? "failed" : "succeeded")
            } catch {
                print("\(error)")
            }
            fflush(nil)
        }
    }
}
