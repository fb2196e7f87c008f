import Foundation
@testable import Strongroom
import Testing

/// The tables of the article on sidecars: each row is what really happens.
@Suite("The tables of sidecars")
struct SidecarTableTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let role: SaltFile.Role
        let sidecar: SidecarState
        let database: DatabaseState
        /// Opening, creating, rotating.
        let outcomes: [String]
        /// Of `verify-key`, `create` and `rotate`.
        let statuses: [Int32]

        var testDescription: String { "\(role.rawValue) \(sidecar.rawValue), database \(database.rawValue)" }

        init?(_ line: Substring, _ role: SaltFile.Role) {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 6, let sidecar = SidecarState(rawValue: cells[0]),
                let database = DatabaseState(rawValue: cells[1])
            else { return nil }
            (self.role, self.sidecar, self.database) = (role, sidecar, database)
            outcomes = Array(cells[2...4])
            statuses = cells[5].split(separator: ",").compactMap { Int32($0.trimmingCharacters(in: .whitespaces)) }
        }
    }

    static let rows: [Row] = {
        let article = Program.packageFolder.appendingPathComponent("Sources/Strongroom/Strongroom.docc/Sidecars.md")
        var role: SaltFile.Role?
        return ((try? String(contentsOf: article, encoding: .utf8)) ?? "").split(separator: "\n").compactMap { line in
            if line.hasPrefix("## ") {
                role = SaltFile.Role.allCases.first { line == "## The tables of `\($0.rawValue)`" }
            }
            return role.flatMap { Row(line, $0) }
        }
    }()

    @Test("The tables of sidecars have a row for each state of each sidecar beside each state of a database")
    func completeness() {
        let names = Self.rows.map(\.testDescription)
        #expect(Set(names).count == names.count)
        let count = SaltFile.Role.allCases.count * SidecarState.allCases.count * DatabaseState.allCases.count
        #expect(names.count == count)
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
