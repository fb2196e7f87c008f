import Foundation
import Testing

@testable import Strongroom

/// The tables of slot files in the article on sidecars: each row is what really happens.
@Suite("The tables of slot files")
struct SlotFileTableTests {
    typealias Row = SidecarRow<SlotFiles.Role, SlotDatabaseState>

    static let rows = Row.chosen("rows of the tables of slot files, for the library", \.outcomes)
    static let rowsOfCommands = Row.chosen("rows of the tables of slot files, for commands", \.statuses)

    @Test("The tables of slot files have a row for each state of each file beside each state of a database")
    func completeness() {
        Row.requireCompleteness()
    }

    @Test(
        "The tables of slot files have the outcome of opening, creating and changing a slot", .timeLimit(.minutes(10)),
        arguments: rows)
    func library(_ row: Row) throws {
        func fixture() throws -> SlotFileFixture { try SlotFileFixture(row.role, row.sidecar, row.database) }
        let outcomes = [try fixture().opening(), try fixture().creating(), try fixture().changing()]
        #expect(outcomes == row.outcomes, "\(row.testDescription)")
    }

    @Test(
        "The tables of slot files say the exit statuses of verify-key, create --slots and key passwd",
        .timeLimit(.minutes(20)), arguments: rowsOfCommands)
    func command(_ row: Row) async throws {
        var statuses: [Int32] = []
        for command in [["verify-key"], ["create", "--slots", "--cost", "14"], ["key", "passwd"]] {
            let fixture = try SlotFileFixture(row.role, row.sidecar, row.database), scratch = fixture.scratch
            let old = try scratch.secret(SlotFileFixture.passphrase, in: "old")
            let new = try scratch.secret(SlotFileFixture.newPassphrase, in: "new")
            let change = command.contains("passwd") ? ["--new-passphrase-file", new] : []
            var program = try Program(built: "strongroom")
            program.arguments = command + [fixture.path, "--passphrase-file", old] + change
            if fixture.isOfAnotherUser {
                program = try program.unprivileged(as: SidecarFixture.user)
                for secret in [old, new] { try fixture.giveAway(secret) }
            }
            statuses.append(try await program.run().status)
        }
        #expect(statuses == row.statuses, "\(row.testDescription)")
    }
}
