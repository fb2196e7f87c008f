import Foundation
@testable import Strongroom
import Testing

/// The tables of the article on sidecars: each row is what really happens.
@Suite("The tables of sidecars")
struct SidecarTableTests {
    typealias Row = SidecarRow<SaltFile.Role, DatabaseState>

    static let rows = Row.all

    @Test("The tables of sidecars have a row for each state of each sidecar beside each state of a database")
    func completeness() {
        Row.requireCompleteness(Self.rows)
    }

    @Test(
        "The tables of sidecars say what opening, creating and rotating come to",
        .timeLimit(.minutes(5)), arguments: rows)
    func library(_ row: Row) throws {
        func fixture() throws -> SidecarFixture { try SidecarFixture(row.role, row.sidecar, row.database) }
        let outcomes = [try fixture().opening(), try fixture().creating(), try fixture().rotating()]
        #expect(outcomes == row.outcomes, "\(row.testDescription)")
    }

    @Test(
        "The tables of sidecars say the exit statuses of verify-key, create and rotate",
        .timeLimit(.minutes(20)), arguments: rows)
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
    /// The same as another user, which root can ask for.
    func unprivileged(as user: UInt32) throws -> Program {
        var program = try Program("setpriv")
        program.arguments = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", executable.path] + arguments
        return program
    }
}
