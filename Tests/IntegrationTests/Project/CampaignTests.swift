import Foundation
import TestSupport
import Testing

/// The short forms of `scripts/campaign`, which runs all cases.
@Suite("A campaign")
struct CampaignTests {
    private static let step = Int(Form.step(10, "cases of the short forms of campaigns"))

    /// One case of so many; of ten times as many in the default form.
    private static func sample(_ count: Int) -> String { "\(count * step)" }

    /// Runs a campaign to its end, without a finding.
    private func run(_ name: String, _ options: String...) async throws {
        let scratch = try TemporaryFolder()
        var program = try Program(built: "Campaigns")
        program.arguments = [name, scratch.path] + options
        let outcome = try await program.run()
        let place = (try? String(contentsOfFile: scratch.path("case"), encoding: .utf8)) ?? "none"
        #expect(outcome.status == 0, "in the case \(place): \(outcome.output)\(outcome.errors)")
        #expect(outcome.output.contains(" 0 findings"))
    }

    @Test("of failing calls leaves one key that opens all that was acknowledged, and one clear error")
    func calls() async throws {
        try await run("calls", "--sample", Self.sample(500))
    }

    @Test("of failing calls in a rotation leaves one key that opens everything, also after a crash")
    func rotationCalls() async throws {
        try await run("calls", "--scenario", "rotate-wal", "--scenario", "rotate-delete", "--sample", Self.sample(40))
    }

    @Test(
        "of failing calls and of power cuts in restores and migrations in place leaves one whole database",
        arguments: ["calls", "power"])
    func replacements(name: String) async throws {
        try await run(
            name, "--scenario", "restore", "--scenario", "migrate-in-place",
            "--sample", Self.sample(name == "calls" ? 100 : 20))
    }

    @Test(
        "of failing calls while the header changes takes none for a wrong key",
        arguments: ["header-on", "header-off"])
    func headerCalls(scenario: String) async throws {
        try await run("calls", "--scenario", scenario, "--sample", Self.sample(5))
    }

    @Test("of failing calls in dated backups leaves whole ones, and none is lost")
    func backupCalls() async throws {
        try await run("calls", "--scenario", "backup-folder", "--sample", Self.sample(40))
    }

    @Test("of kills of dated backups leaves whole ones, and none is lost")
    func backupKills() async throws {
        try await run("kills", "--scenario", "folder", "--count", Form.isWhole ? "460" : "46")
    }

    @Test("of power cuts leaves one key that opens all that was acknowledged")
    func powerCuts() async throws {
        try await run("power", "--sample", Self.sample(60))
    }

    @Test("of power cuts while a database is created leaves one that can be created again")
    func creation() async throws {
        try await run("power", "--scenario", "create-raw", "--scenario", "create-recipe", "--sample", Self.sample(4))
    }

    @Test("of power cuts while the header of a database changes leaves one key that opens all", arguments: ["1", "13"])
    func headers(seed: String) async throws {
        try await run(
            "power", "--scenario", "header-on", "--scenario", "header-off", "--seed", seed, "--sample", Self.sample(3))
    }

    @Test("of turns loses no commit of two connections, in one process and in two")
    func turns() async throws {
        try await run("turns", "--sample", Self.sample(300))
    }

    @Test("of kills leaves one key that opens all that was acknowledged")
    func kills() async throws {
        try await run("kills", "--count", Form.isWhole ? "24" : "4")
    }

    @Test("of refused memory in writes leaves one key that opens all that was acknowledged")
    func memory() async throws {
        try await run("memory", "--scenario", "write-wal", "--sample", Self.sample(60))
    }

    @Test("finds no clear text in what is written, and no passphrase in a core dump")
    func clearText() async throws {
        try await run("clear-text")
    }

    @Test("of a soak test loses nothing")
    func soak() async throws {
        try await run("soak", "--count", Form.isWhole ? "10" : "4")
    }
}
