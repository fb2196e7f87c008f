import Foundation
import Testing

@testable import Strongroom

/// The tables of the article on sidecars: each row is what really happens.
@Suite("The tables of sidecars")
struct SidecarTableTests {
    typealias Row = SidecarRow<SaltFile.Role, DatabaseState>

    static let rows = Row.chosen("rows of the tables of sidecars, for the library", \.outcomes)
    static let rowsOfCommands = Row.chosen("rows of the tables of sidecars, for commands", \.statuses)

    @Test("The tables of sidecars have a row for each state of each sidecar beside each state of a database")
    func completeness() {
        Row.requireCompleteness()
    }

    @Test(
        "The tables of sidecars have the outcome of opening, creating and rotating",
        .timeLimit(.minutes(5)), arguments: rows)
    func library(_ row: Row) throws {
        func fixture() throws -> SidecarFixture { try SidecarFixture(row.role, row.sidecar, row.database) }
        let outcomes = [try fixture().opening(), try fixture().creating(), try fixture().rotating()]
        #expect(outcomes == row.outcomes, "\(row.testDescription)")
    }

    @Test(
        "The tables of sidecars say the exit statuses of verify-key, create and rotate",
        .timeLimit(.minutes(20)), arguments: rowsOfCommands)
    func command(_ row: Row) async throws {
        var statuses: [Int32] = []
        for command in [["verify-key"], ["create", "--plaintext-header"], ["rotate", "--new-raw-key-file", "new"]] {
            let fixture = try SidecarFixture(row.role, row.sidecar, row.database), scratch = fixture.scratch
            try scratch.write(SidecarFixture.key, to: "key")
            try scratch.write(SidecarFixture.newKey, to: "new")
            let rest = command.dropFirst().map { $0 == "new" ? scratch.path("new") : $0 }
            var program = try Program(built: "strongroom")
            program.arguments = [command[0], fixture.path, "--raw-key-file", scratch.path("key")] + rest
            if fixture.isOfAnotherUser {
                program = try program.unprivileged(as: SidecarFixture.user)
                for secret in ["key", "new"] { try fixture.giveAway(scratch.path(secret)) }
            }
            statuses.append(try await program.run().status)
        }
        #expect(statuses == row.statuses, "\(row.testDescription)")
    }
}

extension Program {
    /// Runs it as another user, which root can do.
    func unprivileged(as user: UInt32) throws -> Program {
        var program = try Program("setpriv")
        program.arguments = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", executable.path] + arguments
        return program
    }
}
