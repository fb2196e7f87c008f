import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

/// The table of the article on key stores: each row is what really happens.
@Suite("The table of key stores")
struct KeyStoreTableTests {
    enum File: String, CaseIterable { case absent, there, unreadable }
    enum Stored: String, CaseIterable { case absent, there, former, locked, unreadable }

    struct Row: CustomTestStringConvertible, Sendable {
        let database: File, slotFile: File, stored: Stored, outcome: String

        var testDescription: String { "database \(database), slot file \(slotFile), stored key \(stored)" }

        /// The states of a line of the table, where a cell names one state, several, or any.
        static func rows(of line: Substring) -> [Row] {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, let databases: [File] = states(cells[0]), let slotFiles: [File] = states(cells[1]),
                let stores: [Stored] = states(cells[2])
            else { return [] }
            return databases.flatMap { database in
                slotFiles.flatMap { slotFile in
                    stores.map { Row(database: database, slotFile: slotFile, stored: $0, outcome: cells[3]) }
                }
            }
        }

        /// Returns nil for a text that is no cell of states, such as the header's.
        private static func states<State>(_ cell: String) -> [State]?
        where State: RawRepresentable<String> & CaseIterable {
            if cell == "any" { return Array(State.allCases) }
            let words = cell.split(separator: " or ").map(String.init)
            let states = words.compactMap(State.init(rawValue:))
            return states.count == words.count ? states : nil
        }
    }

    static let rows: [Row] = ((try? Articles.text("KeyStores")) ?? "").split(separator: "\n")
        .flatMap { Row.rows(of: $0) }

    @Test("has one outcome for each state of the database, of the slot file and of the stored key")
    func completeness() {
        let names = Self.rows.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(names.count == File.allCases.count * File.allCases.count * Stored.allCases.count)
    }

    private static let user: UInt32 = 65534

    @Test("has the outcome of opening in each row, and an error changes nothing", arguments: rows)
    func outcome(_ row: Row) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), store = MemoryKeyStore()
        let key = try DatabaseKey.random()
        if row.database != .absent { try addRow(path, .raw(key.withUnsafeBytes { Array($0) })) }
        if row.slotFile != .absent { try Data("slot file\n".utf8).write(to: URL(fileURLWithPath: path + "-keys")) }
        switch row.stored {
        case .absent: break
        case .there: store.put(key)
        case .former: store.put(key, as: FormerKey(name: "former-1700000000-\(try key.identifier!)")!)
        case .locked: store.become(.locked)
        case .unreadable: store.become(.failing)
        }
        let files = [path, path + "-keys"], before = files.map { FileManager.default.contents(atPath: $0) }
        let outcome = try asUser(files.filter { ($0 == path ? row.database : row.slotFile) == .unreadable }, folder) {
            try opening(path, store)
        }
        #expect(outcome == row.outcome)
        #expect(store.count(of: "store current") == (row.outcome == "makes a key, creates" ? 1 : 0))
        if row.database != .absent, !outcome.hasPrefix("opens") {
            #expect(FileManager.default.contents(atPath: path) == before[0])
        }
        #expect(FileManager.default.contents(atPath: path + "-keys") == before[1])
        store.become(.open)
        if row.database != .absent, row.stored != .former { store.put(key) }
        guard row.database != .absent || outcome.contains("creates") else { return }
        #expect(try rowCount(path, .managed(by: store)) != nil, "with its key, it opens")
    }

    /// Runs `body` as a user who may not read these files. Root reads everything.
    private func asUser<T>(_ unreadable: [String], _ folder: TemporaryFolder, _ body: () throws -> T) throws -> T {
        guard !unreadable.isEmpty else { return try body() }
        for path in unreadable { try #require(chmod(path, 0) == 0) }
        defer { for path in unreadable { chmod(path, 0o600) } }
        guard geteuid() == 0 else { return try body() }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).map { folder.path($0) }
        for path in names + [folder.path] where !unreadable.contains(path) {
            try #require(chown(path, Self.user, Self.user) == 0)
        }
        try #require(strongroom_faults_use_files_as(Self.user))
        defer { _ = strongroom_faults_use_files_as(0) }
        return try body()
    }

    private func opening(_ path: String, _ store: MemoryKeyStore) throws -> String {
        let exists = FileManager.default.fileExists(atPath: path)
        let stored: StoredKey?
        do {
            let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
            try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)") }
            stored = try queue.read { $0.storedKey }
            try queue.close()
        } catch let error as DatabaseError {
            switch error.reason {
            case .missingKey: return "no key"
            case .keyStoreLocked: return "locked"
            case .keyStoreFailed: return "store failed"
            case nil where error.resultCode == .SQLITE_CANTOPEN: return "unreadable"
            default: throw error
            }
        }
        if case .former = stored { return exists ? "opens with it" : "creates with it" }
        if exists { return "opens" }
        return store.count(of: "store current") == 1 ? "makes a key, creates" : "creates with the key"
    }
}
