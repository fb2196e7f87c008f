import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A row of the tables in the article on sidecars: the outcomes for a sidecar in one of its states, beside a database
/// in one of its own.
struct SidecarRow<Role, Database>: CustomTestStringConvertible, Sendable
where
    Role: RawRepresentable<String> & CaseIterable & Sendable,
    Database: RawRepresentable<String> & CaseIterable & Sendable
{
    let role: Role
    let sidecar: SidecarState
    let database: Database
    /// Of what is done by the library.
    let outcomes: [String]
    /// The exit statuses of what is done by commands.
    let statuses: [Int32]

    var testDescription: String { "\(role.rawValue) \(sidecar.rawValue), database \(database.rawValue)" }

    private init?(_ line: Substring, _ role: Role) {
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == 6, let sidecar = SidecarState(rawValue: cells[0]),
            let database = Database(rawValue: cells[1])
        else { return nil }
        (self.role, self.sidecar, self.database) = (role, sidecar, database)
        outcomes = Array(cells[2...4])
        statuses = cells[5].split(separator: ",").compactMap { Int32($0.trimmingCharacters(in: .whitespaces)) }
    }

    /// The rows of the tables of these roles.
    static var all: [Self] {
        let article = Program.packageFolder.appendingPathComponent(
            "Sources/Strongroom/Strongroom.docc/Maintainers/Sidecars.md")
        var role: Role?
        return ((try? String(contentsOf: article, encoding: .utf8)) ?? "").split(separator: "\n").compactMap { line in
            if line.hasPrefix("## ") { role = Role.allCases.first { line == "## The tables of `\($0.rawValue)`" } }
            return role.flatMap { Self(line, $0) }
        }
    }

    /// In the default form, one row for each file and outcome.
    static func chosen<Outcome: Hashable>(_ subject: String, _ outcome: (Self) -> Outcome) -> [Self] {
        Form.rows(subject, of: all) { [AnyHashable($0.role.rawValue), AnyHashable(outcome($0))] }
    }

    /// Throws unless there is one row for each state of each sidecar beside each state of a database.
    static func requireCompleteness() {
        let names = all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(names.count == Role.allCases.count * SidecarState.allCases.count * Database.allCases.count)
    }
}
