import Foundation
import Strongroom

/// Writers, readers, rotators, suspenders, backups and stock shells use one database simultaneously, some of them are
/// killed, and after each round all that was acknowledged must be there.
struct Soak {
    let campaign: Campaign

    private static let crew: [(kind: Worker.Kind, author: String)] = [
        (.write, "a1"), (.write, "a2"), (.checkpoint, "a3"), (.suspend, "a4"), (.rotate, "a5"), (.read, "a6"),
        (.backup, "a7"),
    ]

    /// For so many seconds, an hour by default.
    func run() throws {
        let place = Place(folder: campaign.options.folder + "/work")
        var scenario = try Scenario.named(["rotate-wal"])[0]
        let ledger = try scenario.makeModel(place)
        scenario.outcomes = [[.old], [.new]]
        let end = Date().addingTimeInterval(Double(campaign.options.count ?? 3600))
        var round = 0
        while Date() < end {
            campaign.run("round \(round)") {
                try work(place)
                return try judge(scenario, place, ledger)
            }
            round += 1
        }
    }

    private func work(_ place: Place) throws {
        var crew = try Self.crew.map { try Crew($0.kind, $0.author, campaign.options) }
        let end = Date().addingTimeInterval(Double.random(in: 2...5, using: &Campaign.random))
        while Date() < end {
            usleep(UInt32.random(in: 100_000..<900_000, using: &Campaign.random))
            let index = Int.random(in: 0..<crew.count, using: &Campaign.random)
            guard crew[index].isRunning else { throw Finding("\(crew[index].name) ended by itself") }
            _ = crew[index].kill()
            crew[index] = try Crew(Self.crew[index].kind, Self.crew[index].author, campaign.options)
        }
        for process in crew { try process.end() }
    }

    private func judge(_ scenario: Scenario, _ place: Place, _ ledger: Ledger) throws -> String {
        let others = try Self.crew.map { try Ledger(author: $0.author, in: campaign.options.folder) }
        try Judge(scenario: scenario, place: place, ledger: ledger, others: others, asksShell: true).judge()
        return "rounds"
    }
}
