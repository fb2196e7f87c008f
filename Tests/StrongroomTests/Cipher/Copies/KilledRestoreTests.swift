import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariant 19: at every instant, one whole set of files is there under its name, and the next run finishes or undoes.
@Suite(
    "A restore that comes to an end in front of a change of a file", .enabled(if: strongroom_faults_operations() >= 0))
struct KilledRestoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func restore(_ folder: String, checks: Bool) throws {
        try DatabaseFile.restore(
            from: folder + "/backup", to: folder + "/db",
            check: checks ? .opening(RestoredKind.encryption) : .none)
    }

    private func prepare(_ kinds: (RestoredKind, RestoredKind), checks: Bool) throws -> Range<Int64> {
        let model = folder.path("model"), counted = folder.path("counted")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try kinds.0.make(model + "/db", 1)
        try kinds.1.make(model + "/backup", 2)
        try FileManager.default.copyItem(atPath: model, toPath: counted)
        strongroom_faults_kill_after(-1)
        try Self.restore(counted, checks: checks)
        return 0..<strongroom_faults_operations()
    }

    /// Opens what is left, and returns the value in it. Nothing else is left then.
    private func settled(_ path: String) throws -> Int? {
        let value = try RestoredKind.value(path + "/db"), names = try RestoredKind.names(path)
        // What a process left that had announced nothing is removed by the next copy.
        DatabaseFile.removeLeftOversOfCopies(in: path)
        #expect(try !RestoredKind.names(path).contains { $0.hasPrefix(".strongroom") })
        #expect(!names.contains("db-replacing"))
        let former = names.first { $0.contains(".former-") && $0.hasSuffix("Z") }
        #expect((former != nil) == (value == 2))
        if let former { #expect(try RestoredKind.value(path + "/" + former) == 1) }
        #expect(try RestoredKind.value(path + "/backup") == 2)
        return value
    }

    @Test(
        "leaves the former database or the restored one, as a whole, and the next opening finishes",
        .timeLimit(.minutes(10)), arguments: RestoredKind.pairs)
    func killed(_ kinds: (RestoredKind, RestoredKind)) async throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        // A check changes no step of the replacement: pairs of two kinds have one, others don't.
        let checks = kinds.0 != kinds.1
        let operations = try prepare(kinds, checks: checks)
        var values: Set<Int?> = []
        for operation in Form.every(8, of: operations, "changes of files in a restore") {
            let path = folder.path("\(operation)")
            try FileManager.default.copyItem(atPath: folder.path("model"), toPath: path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, operation = operation as Int64, checks = checks as Bool] in
                strongroom_faults_cheapen_derivations(true)
                strongroom_faults_kill_after(operation)
                try Self.restore(path, checks: checks)
            }
            let value = try settled(path)
            #expect(value == 1 || value == 2, "\(kinds) before \(operation) of \(operations.count)")
            values.insert(value)
            try FileManager.default.removeItem(atPath: path)
        }
        #expect(values == [1, 2])
    }

    @Test(
        "is finished or undone by the next restore", .timeLimit(.minutes(10)),
        arguments: [
            (RestoredKind.log, RestoredKind.log), (.slots, .header), (.header, .slots),
        ])
    func again(_ kinds: (RestoredKind, RestoredKind)) async throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        let operations = try prepare(kinds, checks: false)
        for operation in Form.every(8, of: operations, "changes of files before the next restore") {
            let path = folder.path("\(operation)")
            try FileManager.default.copyItem(atPath: folder.path("model"), toPath: path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, operation = operation as Int64] in
                strongroom_faults_cheapen_derivations(true)
                strongroom_faults_kill_after(operation)
                try Self.restore(path, checks: false)
            }
            try Self.restore(path, checks: true)
            #expect(try RestoredKind.value(path + "/db") == 2)
            #expect(try !RestoredKind.names(path).contains { $0.hasPrefix(".strongroom") || $0 == "db-replacing" })
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(
        "never shows the stock shell a log of the other database", .timeLimit(.minutes(10)),
        arguments: [(RestoredKind.log, RestoredKind.log), (.log, .plain), (.plain, .log)])
    func stockShell(_ kinds: (RestoredKind, RestoredKind)) async throws {
        let operations = try prepare(kinds, checks: false)
        for operation in Form.every(8, of: operations, "changes of files before a stock shell opens") {
            let path = folder.path("\(operation)")
            try FileManager.default.copyItem(atPath: folder.path("model"), toPath: path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, operation = operation as Int64] in
                strongroom_faults_kill_after(operation)
                try Self.restore(path, checks: false)
            }
            let shell = StockShell(path: path + "/db", passphrase: "first", setUp: "PRAGMA kdf_iter = 1000;")
            let lines = try shell.lines("SELECT a, count(*) FROM t GROUP BY a; PRAGMA cipher_integrity_check;")
            let isAbsent = lines.contains { $0.contains("no such table") }
            #expect(isAbsent || lines == ["1|20"] || lines == ["2|20"], "before \(operation): \(lines)")
            let value = try RestoredKind.value(path + "/db")
            #expect(isAbsent ? value == 2 : value == 1 || value == 2)
            let former = try RestoredKind.names(path).first { $0.contains(".former-") && $0.hasSuffix("Z") }
            if let former { #expect(try RestoredKind.value(path + "/" + former) == 1) }
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(
        "because that change fails throws one error, and the next opening finds a whole database",
        .timeLimit(.minutes(10)),
        arguments: [
            (RestoredKind.log, RestoredKind.slots), (.slots, .log), (.header, .plain), (.plain, .header),
        ], [true, false])
    func fault(_ kinds: (RestoredKind, RestoredKind), isLasting: Bool) async throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        let operations = try prepare(kinds, checks: true)
        // In a process of its own: all of its files fail.
        await #expect(processExitsWith: .success) {
            [root = folder.path as String, count = operations.count as Int, isLasting = isLasting as Bool] in
            strongroom_faults_cheapen_derivations(true)
            for operation in Form.every(4, of: 0..<Int64(count), "failing changes of files in a restore") {
                let path = root + "/\(operation)"
                try FileManager.default.copyItem(atPath: root + "/model", toPath: path)
                strongroom_faults_fail_after(operation, isLasting)
                let result = Result { try Self.restore(path, checks: true) }
                strongroom_faults_fail_after(-1, false)
                if case .failure(let error) = result { try #require(error is DatabaseError) }
                let isPending = try RestoredKind.names(path).contains("db-replacing")
                let value = try RestoredKind.value(path + "/db")
                guard value == 1 || value == 2, isPending || value == ((try? result.get()) == nil ? 1 : 2) else {
                    throw DatabaseError(message: "\(value as Any) after \(result)")
                }
                try FileManager.default.removeItem(atPath: path)
            }
        }
    }
}
