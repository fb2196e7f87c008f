import Foundation
import TestSupport
import Testing

/// Code that the compiler refuses, because values cross from task to task. What it must accept is among the samples of
/// guides.
@Suite("Rules that the compiler enforces", .enabled(if: (try? Program("swiftc")) != nil))
struct SendableRulesTests {
    /// A record that is a class: the compiler can't know that it is safe to share.
    private static let playerClass = """
        import Strongroom

        final class Player: Codable, Identifiable {
            var id: Int64
            var name: String
            var score: Int
        }

        extension Player: FetchableRecord, PersistableRecord { }

        """

    private func diagnostics(of source: String) async throws -> String {
        let scratch = try TemporaryFolder()
        try scratch.write(Data(source.utf8), to: "sample.swift")
        return try await SwiftCompiler.diagnostics("-typecheck", scratch.path("sample.swift"))
    }

    @Test("Code that follows the rules compiles: the refusals below have no other reason")
    func accepted() async throws {
        let diagnostics = try await diagnostics(
            of: """
                import Strongroom

                struct Player: Codable, Identifiable {
                    var id: Int64
                    var name: String
                    var score: Int
                }

                extension Player: FetchableRecord, PersistableRecord {
                    static var databaseSelection: [any SQLSelectable] { [Column("id"), Column("name"), \
                    Column("score")] }
                }

                func use(writer: any DatabaseWriter, player: Player) async throws {
                    try await writer.write { db in try player.insert(db) }
                    _ = try await writer.read { db in try Player.fetchOne(db, id: 42) }
                    _ = try await writer.read(Player.fetchCount)
                    _ = ValueObservation.tracking { db in try Player.fetchAll(db) }
                }
                """)
        #expect(diagnostics == "")
    }

    @Test("A record class is not fetched from a task")
    func fetchedClass() async throws {
        let diagnostics = try await diagnostics(
            of: Self.playerClass + """
                func use(writer: any DatabaseWriter) async throws {
                    let player = try await writer.read { db in
                        try Player.fetchOne(db, id: 42)
                    }
                    _ = player
                }
                """)
        #expect(diagnostics.contains("error: type 'Player' does not conform to the 'Sendable' protocol"))
    }

    @Test("A record class is not written from a task")
    func writtenClass() async throws {
        let diagnostics = try await diagnostics(
            of: Self.playerClass + """
                func use(writer: any DatabaseWriter, player: Player) async throws {
                    try await writer.write { db in
                        try player.insert(db)
                    }
                }
                """)
        #expect(
            diagnostics.contains("error: capture of 'player' with non-Sendable type 'Player' in a '@Sendable' closure"))
    }

    @Test("A record class is not observed")
    func observedClass() async throws {
        let diagnostics = try await diagnostics(
            of: Self.playerClass + """
                let observation = ValueObservation.tracking { db in
                    try Player.fetchAll(db)
                }
                """)
        #expect(diagnostics.contains("error: type 'Player' does not conform to the 'Sendable' protocol"))
    }

    @Test("A record class may be used by accesses that block")
    func blockingClass() async throws {
        let diagnostics = try await diagnostics(
            of: Self.playerClass + """
                func use(writer: any DatabaseWriter, player: Player) throws -> Player? {
                    try writer.write { db in try player.insert(db) }
                    return try writer.read { db in try Player.fetchOne(db, id: 42) }
                }
                """)
        #expect(diagnostics == "")
    }

    @Test("A selection is no stored property")
    func storedSelection() async throws {
        let diagnostics = try await diagnostics(
            of: """
                import Strongroom

                struct Player: Codable { var id: Int64?; var name: String; var score: Int }

                extension Player: FetchableRecord, MutablePersistableRecord {
                    static let databaseSelection: [any SQLSelectable] = [
                        Column("id"), Column("name"), Column("score")
                    ]
                }
                """)
        #expect(diagnostics.contains("error: static property 'databaseSelection' is not concurrency-safe"))
    }

    @Test("A connection does not leave its access for another task")
    func escapingDatabase() async throws {
        let diagnostics = try await diagnostics(
            of: """
                import Strongroom

                func use(writer: any DatabaseWriter) async throws {
                    let kept = try await writer.read { db in db }
                    _ = kept
                }
                """)
        #expect(diagnostics.contains("error: type 'Database' does not conform to the 'Sendable' protocol"))
    }

    @Test(
        "A row and a cursor stay in their access",
        arguments: [
            ("Row.fetchOne(db, sql: \"SELECT 1\")", "Row"), ("Row.fetchCursor(db, sql: \"SELECT 1\")", "RowCursor"),
            ("db.makeStatement(sql: \"SELECT 1\")", "Statement"),
        ])
    func escapingRows(expression: String, type: String) async throws {
        let diagnostics = try await diagnostics(
            of: """
                import Strongroom

                func use(writer: any DatabaseWriter) async throws {
                    let kept = try await writer.read { db in try \(expression) }
                    _ = kept
                }
                """)
        #expect(diagnostics.contains("error: type '\(type)' does not conform to the 'Sendable' protocol"))
    }
}
