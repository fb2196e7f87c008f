import Foundation
import Strongroom

/// Each call of the system on the files of a scenario fails in turn: once, and from then on.
struct FailingCalls {
    let campaign: Campaign
    var kinds = SystemCalls.Kind.allCases

    func run() throws {
        let folder = campaign.options.folder
        for scenario in try Scenario.named(campaign.options.scenarios) {
            campaign.say(scenario)
            let model = Place(folder: folder + "/model"), ledger = try scenario.makeModel(model)
            for kind in kinds {
                for lasts in [false, true] { try failEach(kind, lasts, scenario, model, ledger) }
            }
        }
    }

    private func failEach(
        _ kind: SystemCalls.Kind, _ lasts: Bool, _ scenario: Scenario, _ model: Place, _ ledger: Ledger
    ) throws {
        let count = try countCalls(kind, scenario, model, ledger)
        for number in 0..<count {
            let rule = SystemCalls.Rule(kind: kind, number: number, lasts: lasts)
            campaign.run("\(scenario.name) \(rule)") { try fail(rule, scenario, model, ledger) }
        }
    }

    /// The number of calls of a kind when none fails.
    private func countCalls(
        _ kind: SystemCalls.Kind, _ scenario: Scenario, _ model: Place, _ ledger: Ledger
    ) throws -> Int {
        let place = Place(folder: campaign.options.folder + "/work")
        var ledger = ledger
        try place.become(model)
        var count = 0
        _ = try SystemCalls.watching(place) {
            try scenario.act(place, &ledger)
            count = SystemCalls.count(kind)
        }
        return count
    }

    private func fail(
        _ rule: SystemCalls.Rule, _ scenario: Scenario, _ model: Place, _ ledger: Ledger
    ) throws -> String {
        let place = Place(folder: campaign.options.folder + "/work")
        let crashed = Place(folder: campaign.options.folder + "/crashed")
        try place.become(model)
        var ledger = ledger, outcome = "successes"
        let failures = try SystemCalls.watching(place, rule) {
            do { try scenario.act(place, &ledger) } catch { outcome = try clear(error) }
        }
        guard failures > 0 else { return "not reached" }
        // As a program leaves it that is killed before it closes anything.
        try crashed.become(place)
        try? FileManager.default.removeItem(atPath: crashed.path + "-shm")
        try Judge(scenario: scenario, place: crashed, ledger: ledger).judge()
        try Judge(scenario: scenario, place: place, ledger: ledger, asksShell: campaign.asksShell).judge()
        return outcome
    }

    /// One error, and a clear one.
    private func clear(_ error: any Error) throws -> String {
        guard let error = error as? DatabaseError else { throw Finding("not a DatabaseError: \(error)") }
        guard error.resultCode != .SQLITE_ERROR, error.message?.isEmpty == false else {
            throw Finding("an unclear error: \(error)")
        }
        guard !error.isWrongKeyError else { throw Finding("a failure is taken for a wrong key: \(error)") }
        return "errors"
    }
}
