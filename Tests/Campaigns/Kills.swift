import Foundation
import Strongroom

/// Processes are killed with SIGKILL, at random moments and in front of random changes of files, beside readers and
/// writers of other processes.
struct Kills {
    let campaign: Campaign

    /// The process to kill, the number of kills, and the database that it works on.
    private struct Target {
        let kind: Worker.Kind
        let share: Int
        let scenarios: [String]
        /// The outcomes, with the other secret that the worker gives.
        let outcomes: [Set<Secret>]
        /// About how many changes of files one life has.
        let operations: Int
        /// The other processes: a connection that stays open keeps a replacement out, and a restore loses what they
        /// wrote after the backup.
        var company = Company.all
        /// The number of kills that a database lives through.
        var life = 20
    }

    private enum Company {
        case all, writers, none
    }

    private static let targets = [
        Target(
            kind: .rotate, share: 10, scenarios: ["rotate-wal", "rotate-delete"], outcomes: [[.old], [.new]],
            operations: 150),
        Target(kind: .write, share: 10, scenarios: ["write-wal", "write-delete"], outcomes: [[.old]], operations: 60),
        Target(kind: .migrate, share: 2, scenarios: ["migrate-format"], outcomes: [[.former]], operations: 120),
        Target(kind: .header, share: 2, scenarios: ["header-on"], outcomes: [[.phrase]], operations: 60),
        Target(
            kind: .restore, share: 10, scenarios: ["restore-kept", "restore-log"], outcomes: [[.old], [.new]],
            operations: 250, company: .none),
        Target(
            kind: .migrateInPlace, share: 10, scenarios: ["migrate-in-place-wal", "migrate-in-place-delete"],
            outcomes: [[.former], [.new]], operations: 250, company: .writers),
        // Each backup, and each judgement of one, reads all that the writers beside it have added.
        Target(kind: .folder, share: 2, scenarios: ["backup-folder"], outcomes: [[.old]], operations: 120, life: 5),
    ]

    /// 4,600 kills, or as many as were asked for, in these shares.
    func run() throws {
        let count = campaign.options.count ?? 4600, names = campaign.options.scenarios
        for target in Self.targets where names.isEmpty || names.contains(target.kind.rawValue) {
            for name in target.scenarios {
                let scenario = try Scenario.named([name])[0]
                campaign.say(scenario)
                for round in 0..<max(1, count * target.share / 46 / target.scenarios.count) {
                    campaign.run("\(target.kind) \(name) \(round)") { try kill(target, scenario, round) }
                }
            }
        }
    }

    private func kill(_ target: Target, _ model: Scenario, _ round: Int) throws -> String {
        let folder = campaign.options.folder, place = Place(folder: folder + "/work")
        var scenario = model
        scenario.outcomes = target.outcomes
        scenario.copySecret = nil
        if round % target.life == 0 || !FileManager.default.fileExists(atPath: place.path) {
            for author in ["v", "w"] { try? FileManager.default.removeItem(atPath: folder + "/ledger-" + author) }
            _ = try scenario.makeModel(place)
        }
        let operation = round % 2 == 0 ? Int.random(in: 0..<target.operations, using: &Campaign.random) : nil
        let victim = try Crew(target.kind, "v", campaign.options, killedAt: operation)
        let notes = try accompany(victim, operation, round, place, scenario, target.company)
        try victim.requireKilled()
        try judge(scenario, place, notes)
        return operation == nil ? "at a moment" : "at a change of a file"
    }

    /// Returns the last row whose commit has returned in a stock shell.
    private func accompany(
        _ victim: Crew, _ operation: Int?, _ round: Int, _ place: Place, _ scenario: Scenario, _ company: Company
    ) throws -> Int {
        var companion: Crew?
        let secret = scenario.secrets.first { $0.opens(place) }
        switch (round % 8, company) {
        case (_, .none), (0, .writers), (3, .writers), (1, .writers), (6, .writers): break
        case (0, _), (3, _): companion = try secret.map { try Crew(shellThatWrites: true, place.path, $0) }
        case (1, _), (6, _): companion = try secret.map { try Crew(shellThatWrites: false, place.path, $0) }
        case (2, .writers), (5, .writers): companion = try Crew(.writeReplaced, "w", campaign.options)
        case (2, _), (5, _): companion = try Crew(.write, "w", campaign.options)
        default: break
        }
        if operation == nil {
            victim.awaitBegin()
            usleep(UInt32.random(in: 0..<60_000, using: &Campaign.random))
            _ = victim.kill()
        } else {
            for _ in 0..<3000 where victim.isRunning { usleep(1000) }
            // A process that waits for others never reaches its change.
            if victim.isRunning { _ = victim.kill() }
        }
        try companion?.requireRunning()
        return companion?.kill() ?? 0
    }

    private func judge(_ scenario: Scenario, _ place: Place, _ notes: Int) throws {
        let ledgers = try ["v", "w"].map { try Ledger(author: $0, in: campaign.options.folder) }
        try Judge(
            scenario: scenario, place: place, ledger: ledgers[0], others: [ledgers[1]], asksShell: campaign.asksShell
        ).judge()
        for name in try FileManager.default.contentsOfDirectory(atPath: place.folder) where name.hasPrefix("copy-v") {
            try? FileManager.default.removeItem(atPath: place.folder + "/" + name)
        }
        guard notes > 0 else { return }
        let secret = scenario.secrets.first { $0.opens(place) }
        let queue = try DatabaseQueue(path: place.path, configuration: (secret ?? .old).configuration)
        let found = try queue.read { try Int.fetchOne($0, sql: "SELECT max(id) FROM note") ?? 0 }
        guard found >= notes else { throw Finding("the stock shell committed row \(notes), the last is \(found)") }
    }
}
