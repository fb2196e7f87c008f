import Foundation
import Strongroom
import TestSupport

/// The power is cut in front of each change of a file that a scenario makes.
struct PowerCuts {
    let campaign: Campaign

    func run() throws {
        let folder = campaign.options.folder
        for scenario in try Scenario.named(campaign.options.scenarios) where scenario.hasDisk {
            campaign.say(scenario)
            let model = Place(folder: folder + "/model"), place = Place(folder: folder + "/work")
            var ledger = try scenario.makeModel(model)
            let before = ledger
            try place.become(model)
            let disk = try Disk(place)
            let changes = try Change.recorded(in: place) { try scenario.act(place, &ledger) }
            cut(scenario, disk, changes, before, attempted: ledger.attempted)
        }
    }

    private func cut(_ scenario: Scenario, _ start: Disk, _ changes: [Change], _ before: Ledger, attempted: Int) {
        var disk = start, ledger = before, seen: Set<[String: Data]> = []
        ledger.attempted = attempted
        for (number, change) in (changes + [.note(.batch(0))]).enumerated() {
            if case .note(let note) = change, number < changes.count {
                // The former remainder is not enough any more.
                ledger.read(note)
                seen = []
                continue
            }
            for (kind, loss) in Disk.Loss.allCases.enumerated() {
                var random = SeededGenerator(seed: campaign.options.seed &* 1_000_003 &+ UInt64(number * 16 + kind))
                let contents = disk.contents(after: loss, using: &random)
                guard seen.insert(contents).inserted else { continue }
                campaign.run("\(scenario.name) \(number) \(loss)") { try judge(scenario, contents, ledger) }
            }
            if case .note = change {} else { disk.apply(change) }
        }
    }

    private func judge(_ scenario: Scenario, _ contents: [String: Data], _ ledger: Ledger) throws -> String {
        let place = Place(folder: campaign.options.folder + "/work")
        try place.make()
        for (path, bytes) in contents {
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try bytes.write(to: URL(fileURLWithPath: path))
        }
        try Judge(scenario: scenario, place: place, ledger: ledger, asksShell: campaign.asksShell)
            .judge(isDurable: scenario.isDurable)
        return "cuts"
    }
}

extension Ledger {
    mutating func read(_ note: Note) {
        switch note {
        case .batch(let batch): acknowledged = batch
        case .outcome(let outcome): self.outcome = outcome
        case .copy(let batches): copied = batches
        }
    }
}
