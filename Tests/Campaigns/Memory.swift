import CStrongroomFaults
import Foundation
import Strongroom

/// Each allocation of a scenario is refused in turn, in SQLite and in the shim: once, and from then on.
struct Memory {
    let campaign: Campaign

    /// Without memory for the copy of a key's specification, which has 99 bytes, SQLCipher 4.6.1 frees the original
    /// twice. The library can't prevent it inside of one statement. Everything else of that statement is refused.
    private static let specificationSize: [String: Int32] = ["vacuum-into": 104]

    func run() throws {
        for scenario in try Scenario.named(campaign.options.scenarios) {
            campaign.say(scenario)
            let model = Place(folder: campaign.options.folder + "/model"), ledger = try scenario.makeModel(model)
            strongroom_faults_spare_memory(Self.specificationSize[scenario.name] ?? 0)
            for isShim in [false, true] {
                for lasts in [false, true] { refuseEach(scenario, isShim, lasts, model, ledger) }
            }
        }
    }

    private func refuseEach(_ scenario: Scenario, _ isShim: Bool, _ lasts: Bool, _ model: Place, _ ledger: Ledger) {
        var number = 0, reached = true
        while reached, number < 100_000 {
            campaign.run("\(scenario.name) \(isShim ? "shim" : "SQLite") \(number) \(lasts ? "and on" : "once")") {
                let result = try refuse(scenario, isShim, number, lasts, model, ledger)
                reached = result != "not reached"
                return result
            }
            number += 1
        }
    }

    private func refuse(
        _ scenario: Scenario, _ isShim: Bool, _ number: Int, _ lasts: Bool, _ model: Place, _ before: Ledger
    ) throws -> String {
        // What SQLCipher 4.6.1 loses when an allocation is refused stays locked, and each piece divides a mapping, of
        // which a process has 65,530.
        _ = munlockall()
        let place = Place(folder: campaign.options.folder + "/work")
        try place.become(model)
        var ledger = before, result = "successes"
        let refusals = strongroom_faults_refusals() + strongroom_faults_shim_refusals()
        if isShim {
            strongroom_faults_refuse_shim_memory(Int64(number), lasts)
        } else {
            strongroom_faults_refuse_memory(Int64(number), 1, lasts)
        }
        let outcome = Result { try scenario.act(place, &ledger) }
        strongroom_faults_refuse_shim_memory(-1, false)
        strongroom_faults_refuse_memory(-1, 0, false)
        guard strongroom_faults_refusals() + strongroom_faults_shim_refusals() > refusals else { return "not reached" }
        if case .failure(let error) = outcome { result = try clear(error) }
        try Judge(scenario: scenario, place: place, ledger: ledger, asksShell: campaign.asksShell).judge()
        return result
    }

    private func clear(_ error: any Error) throws -> String {
        guard let error = error as? DatabaseError, !error.isWrongKeyError else {
            throw Finding("an unclear error: \(error)")
        }
        return "errors"
    }
}
