import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

/// Invariant 10: every result code is checked, and every error tells its code, its message and its SQL.
@Suite("Nothing is swallowed")
struct NothingSwallowedTests {
    /// The outcome of four transactions when the disk fails.
    private struct Outcome {
        var acknowledged = 0
        var failure: (any Error)?
    }

    private func write(_ queue: DatabaseQueue) -> Outcome {
        var outcome = Outcome()
        do {
            for number in 1...4 {
                try queue.write {
                    try $0.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [number, Data(count: 5000)])
                }
                outcome.acknowledged = number
            }
        } catch {
            outcome.failure = error
        }
        return outcome
    }

    @Test(
        "Each failing write to the disk is an error, and each acknowledged row is there",
        arguments: [
            (STRONGROOM_FAULT_FULL, ResultCode.SQLITE_FULL), (STRONGROOM_FAULT_IO, .SQLITE_IOERR),
            (STRONGROOM_FAULT_TORN, .SQLITE_IOERR),
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

            let found = try DatabaseQueue(path: path, configuration: .encrypted()).read {
                try Int.fetchAll($0, sql: "SELECT a FROM t ORDER BY a")
            }
            // A commit that did not return may have happened: one, the next.
            #expect(
                found == Array(1...4).prefix(found.count).map { $0 }
                    && (outcome.acknowledged...outcome.acknowledged + 1).contains(found.count))
            guard let failure = outcome.failure else { break }
            failureCount += 1
            let error = try #require(failure as? DatabaseError)
            #expect(error.resultCode == fault.code)
            #expect(error.message?.isEmpty == false && error.sql?.isEmpty == false)
        }
        #expect(failureCount >= 4 && failureCount < 500)
    }

    // MARK: - In the source

    /// Calls whose result says nothing: it is void, a former value, always OK, or the failure that the step before has
    /// reported or the reset after will report.
    private static let silent: Set<String> = [
        "sqlite3_reset", "sqlite3_finalize", "sqlite3_clear_bindings", "sqlite3_free", "sqlite3_db_release_memory",
        "sqlite3_commit_hook",
        "sqlite3_rollback_hook", "sqlite3_update_hook", "sqlite3_set_authorizer", "sqlite3_close_v2",
        "sqlite3_extended_result_codes",
        "sqlite3_progress_handler", "sqlite3_interrupt", "sqlite3_sleep", "sqlite3_hard_heap_limit64",
        "sqlite3_str_appendall",
        "sqlite3_str_appendf",
    ]

    /// Functions that throw, and have the name of one that returns a result code.
    private static let throwing = [
        "_ = try next.publish(", "_ = try database.log.checkpoint(", "_ = try SlotFiles.sidecar.read(", "_ = try run(",
        "_ = try files.read(",
    ]

    /// Calls that ask for no more than their effect.
    private static let effects: Set<String> = [
        // Fails on purpose or not: it makes the connection forget a message.
        #"_ = RawConnection(database.sqliteConnection).execute("")"#,
        // After a failure that is thrown, and reported again.
        "_ = destDb.stops.rollingBack { backup.finish() }",
        "_ = database.raw.cancelRekey(rollback)",
        "defer { _ = database.raw.cancelRekey(rollback) }",
        // Where SQLCipher's log can't be moved, there is no log to say so.
        #"_ = CipherDefaults.execute("PRAGMA cipher_log = \(sink.map { "'\($0)'" } ?? "off")")"#,
        // A switch that every connection has, and that takes both values.
        "_ = RawConnection(connection).configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isEnabled)",
        "defer { for (option, isOn) in formerSwitches { _ = connection.configure(option, isOn) } }",
        // A file that an error has left incomplete, and that its folder takes with it.
        "deinit { if descriptor >= 0 { _ = strongroom_staged_finish(descriptor) } }",
        // A name that goes with its folder at the latest.
        #"_ = ReplacedFile.unlink(folder + "/copy-probe")"#,
        // The record of a replacement that has ended. The next opening removes what stays.
        "_ = NamedFile.remove(recordPath)",
        // SQLite reports a file that it can't create.
        "database.authorizer.willCopy = { filename in "
            + "_ = StagedCopy.create(SQLiteURI.path(of: filename), of: source) }",
        // The reset and the finalization that follow tell what became of the step.
        "sqlite3_step(rollback);",
        "if (result == SQLITE_OK) sqlite3_step(statement);",
        // A transaction may be open already, and no page gets written either way.
        #"sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);"#,
    ]

    /// The functions of the shim that return a result code.
    private static func shimFunctions(inHeader header: String) -> Set<String> {
        Set(
            header.split(separator: "\n").compactMap { line in
                line.firstMatch(of: /^(?:static inline )?int (strongroom_\w+)\(/).map { String($0.1) }
            })
    }

    /// The functions of the shim that return a result code to Swift. The compiler sees results that nothing takes.
    private static func shimFunctions(inSwift source: String) -> Set<String> {
        let function = /(@discardableResult\s[^{}]*?)?\bfunc `?(\w+)`?(?:<[^>{}]*>)?\([^{}]*?\) -> CInt \{/
        return Set(source.matches(of: function).compactMap { $0.1 == nil ? String($0.2) : nil })
    }

    /// Lines that take a result code of the shim, and forget it.
    private static func forgottenResults(inSource source: String, of functions: Set<String>) -> [String] {
        statements(in: source).filter { line in
            guard line.contains("_ = "), !effects.contains(line), !throwing.contains(where: line.contains) else {
                return false
            }
            return line.matches(of: /_ = [^;]*?[.{ ](\w+)\(/).contains { functions.contains(String($0.1)) }
        }
    }

    /// Lines, each with those that continue it: inside of parentheses, or after a comma.
    private static func statements(in source: String) -> [String] {
        var statements: [String] = [], depth = 0
        for line in source.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.isEmpty || line.hasPrefix("//") { continue }
            if depth > 0 || statements.last?.hasSuffix(",") == true {
                statements[statements.count - 1] += " " + line
            } else {
                statements.append(line)
            }
            depth = max(0, depth + line.count { $0 == "(" } - line.count { $0 == ")" })
            // A parenthesis in a string hides no more than its line.
            if line.hasSuffix("{") || line.hasSuffix(" in") || line.hasSuffix(";") || line.hasSuffix("}") { depth = 0 }
        }
        return statements
    }

    /// True for the only expression of a case, if the switch is an expression.
    private static func isValueOfCase(_ lines: [String], _ index: Int) -> Bool {
        guard index > 0 else { return false }
        let label: String = lines[index - 1]
        guard label.hasPrefix("case "), label.hasSuffix(":") else { return false }
        let head: String? = lines[..<index].last(where: { (line: String) -> Bool in line.contains("switch ") })
        return head?.contains("= switch ") ?? false
    }

    /// Lines that call a function which answers with a result code, and do nothing with it.
    private static func droppedResults(inSource source: String, of shim: Set<String> = []) -> [String] {
        let lines = statements(in: source)
        return lines.indices.compactMap { index in
            let line = lines[index]
            guard line.contains("sqlite3_") || line.contains("strongroom_") else { return nil }
            // A call where a statement begins: nothing takes its value.
            guard let call = line.firstMatch(of: /(?:^|[;{)]|else) *(?:_ = |\(void\))?((?:sqlite3|strongroom)_\w+)\(/)
            else { return nil }
            let name = String(call.1)
            guard name.hasPrefix("sqlite3_") || shim.contains(name) else { return nil }
            if silent.contains(name) || name.hasPrefix("sqlite3_result_") || effects.contains(line) { return nil }
            // The only expression of a function or closure is its value.
            let isAlone = index > 0 && (lines[index - 1].hasSuffix("{") || lines[index - 1].hasSuffix(" in"))
            let isOnly = isAlone && line.hasPrefix(name) && index + 1 < lines.count && lines[index + 1].hasPrefix("}")
            let isCase = isValueOfCase(lines, index)
            return (isOnly || isCase || line.contains("{ \(name)")) && !line.contains(";") ? nil : line
        }
    }

    @Test("No result of SQLite or of the shim is dropped, except for results without information")
    func droppedResults() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent()
        func texts(in folder: String, _ ending: String) throws -> [(file: String, text: String)] {
            let folder = root.appendingPathComponent(folder)
            return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(ending) }
                .map { ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) }
        }
        let shim = try texts(in: "Shim/CStrongroom", ".h").reduce(into: Set<String>()) {
            $0.formUnion(Self.shimFunctions(inHeader: $1.text))
        }
        #expect(shim.isSuperset(of: ["strongroom_file_extend", "strongroom_database_read", "strongroom_hmac"]))
        let swift = try texts(in: "Sources/Strongroom/Shim", ".swift").reduce(into: Set<String>()) {
            $0.formUnion(Self.shimFunctions(inSwift: $1.text))
        }
        #expect(swift.isSuperset(of: ["extend", "readFile", "hmac", "cancelRekey", "configure"]))
        var callCount = 0
        for (file, text) in try texts(in: "Sources/Strongroom", ".swift") + texts(in: "Shim/CStrongroom", ".c") {
            callCount += text.components(separatedBy: "sqlite3_").count - 1
            #expect(Self.droppedResults(inSource: text, of: shim) == [], "\(file)")
            #expect(Self.forgottenResults(inSource: text, of: swift) == [], "\(file)")
        }
        #expect(callCount > 200)
    }

    @Test("A result that is dropped would be seen")
    func control() {
        let functions = Self.shimFunctions(
            inSwift: """
                static func move(_ from: String, to path: String) -> CInt { 0 }
                @discardableResult
                func reset() -> CInt { 0 }
                func read(
                    _ path: String, at offset: Int
                ) -> CInt {
                func isThere() -> Bool { true }
                """)
        #expect(functions == ["move", "read"])
        let forgotten = Self.forgottenResults(
            inSource: """
                _ = NamedFile.move(a, to: b)
                _ = RawStatement(a).reset()
                let error = NamedFile.move(a, to: b)
                _ = stops.undoing { connection.read(path, at: 0) }
                """, of: functions)
        #expect(forgotten == ["_ = NamedFile.move(a, to: b)", "_ = stops.undoing { connection.read(path, at: 0) }"])
        let dropped = Self.droppedResults(
            inSource: """
                func close() {
                    sqlite3_close(connection)
                    _ = sqlite3_busy_timeout(connection, 5)
                    try check(sqlite3_step(statement))
                    strongroom_enter(connection)
                if (result == SQLITE_OK) sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);
                    _ = strongroom_file_remove(path)
                    guard strongroom_file_remove(path) == 0 else { return }
                }
                """, of: ["strongroom_file_remove"])
        #expect(
            dropped == [
                "sqlite3_close(connection)", "_ = sqlite3_busy_timeout(connection, 5)",
                "if (result == SQLITE_OK) sqlite3_bind_text(statement, 1, path, -1, SQLITE_STATIC);",
                "_ = strongroom_file_remove(path)",
            ])
    }
}
