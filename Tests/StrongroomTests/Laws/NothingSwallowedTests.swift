import CStrongroomFaults
import Foundation
import Strongroom
import Testing

/// Law 10: every result code is checked, and every error tells its code, its message and its SQL.
@Suite("Nothing is swallowed")
struct NothingSwallowedTests {
    /// What becomes of four transactions when the disk fails.
    private struct Outcome {
        var acknowledged = 0
        var failure: (any Error)?
    }

    private func write(_ queue: DatabaseQueue) -> Outcome {
        var outcome = Outcome()
        do {
            for number in 1...4 {
                try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [number, Data(count: 5000)]) }
                outcome.acknowledged = number
            }
        } catch {
            outcome.failure = error
        }
        return outcome
    }

    @Test(
        "A write to the disk that fails, whichever it is, is an error, and what was acknowledged is there",
        arguments: [
            (STRONGROOM_FAULT_FULL, ResultCode.SQLITE_FULL), (STRONGROOM_FAULT_IO, .SQLITE_IOERR), (STRONGROOM_FAULT_TORN, .SQLITE_IOERR),
            (STRONGROOM_FAULT_SYNC, .SQLITE_IOERR),
        ], ["delete", "wal"])
    func failingDisk(fault: (kind: strongroom_fault, code: ResultCode), journal: String) throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder()
        var failureCount = 0
        for after in 0..<Int64(500) {
            let path = folder.path("\(after).sqlite")
            let queue = try DatabaseQueue(path: path, configuration: .encrypted())
            try queue.inDatabase { db throws in
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(journal)")
                try db.execute(sql: "CREATE TABLE t (a INTEGER PRIMARY KEY, b BLOB)")
            }
            strongroom_faults_set(folder.path, fault.kind, after)
            let outcome = write(queue)
            strongroom_faults_clear(folder.path)
            try queue.close()

            let found = try DatabaseQueue(path: path, configuration: .encrypted()).read { try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a") }
            // A commit whose end was not told may have come about: one, the next.
            #expect(found == Array(1...4).prefix(found.count).map { $0 } && (outcome.acknowledged...outcome.acknowledged + 1).contains(found.count))
            guard let failure = outcome.failure else { break }
            failureCount += 1
            let error = try #require(failure as? DatabaseError)
            #expect(error.resultCode == fault.code)
            #expect(error.message?.isEmpty == false && error.sql?.isEmpty == false)
        }
        #expect(failureCount >= 4 && failureCount < 500)
    }

    // MARK: - In the source

    /// Calls whose result says nothing: it is void, a former value, always OK, or the failure that the step before has told.
    private static let silent: Set<String> = [
        "sqlite3_reset", "sqlite3_finalize", "sqlite3_clear_bindings", "sqlite3_free", "sqlite3_db_release_memory", "sqlite3_commit_hook",
        "sqlite3_rollback_hook", "sqlite3_update_hook", "sqlite3_set_authorizer",
    ]

    /// Calls that ask for no more than their effect.
    private static let effects: Set<String> = [
        // Fails on purpose or not: it makes the connection forget a message.
        #"sqlite3_exec(sqliteConnection, "", nil, nil, nil)"#,
        // After a failure that is thrown, which is told again.
        "sqlite3_backup_finish(backup)",
    ]

    /// Lines that call SQLite, and do nothing with the result.
    private static func droppedResults(inSource source: String) -> [String] {
        let lines = source.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("//") }
        return lines.indices.compactMap { index in
            let line = lines[index]
            let call = line.hasPrefix("_ = ") ? String(line.dropFirst(4)) : line
            guard call.hasPrefix("sqlite3_") else { return nil }
            let name = String(call.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
            if silent.contains(name) || name.hasPrefix("sqlite3_result_") || effects.contains(line) { return nil }
            // The only expression of a function or closure is its value.
            let isValue = index > 0 && lines[index - 1].hasSuffix("{") && index + 1 < lines.count && lines[index + 1].hasPrefix("}")
            return isValue && call == line ? nil : line
        }
    }

    @Test("No call of SQLite drops its result, but for those that say nothing")
    func droppedResults() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Strongroom")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var callCount = 0
        for file in files {
            let source = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            callCount += source.components(separatedBy: "sqlite3_").count - 1
            #expect(Self.droppedResults(inSource: source) == [], "\(file)")
        }
        #expect(callCount > 100)
    }

    @Test("A result that is dropped would be seen")
    func control() {
        let dropped = Self.droppedResults(inSource: """
            func close() {
                sqlite3_close(connection)
                _ = sqlite3_busy_timeout(connection, 5)
                try check(sqlite3_step(statement))
            }
            """)
        #expect(dropped == ["sqlite3_close(connection)", "_ = sqlite3_busy_timeout(connection, 5)"])
    }
}
