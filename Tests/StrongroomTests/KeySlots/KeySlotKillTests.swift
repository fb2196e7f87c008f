import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Each change of a file that a change of slots makes, and what is left where it comes to an end there.
@Suite("A change of key slots", .enabled(if: strongroom_faults_operations() >= 0))
struct KeySlotKillTests {
    private let folder: TemporaryFolder
    private let model: String

    init() throws {
        folder = try TemporaryFolder()
        model = folder.path("model")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
    }

    @Test(
        "that is killed keeps all secrets or has all new ones, and keeps every row", .timeLimit(.minutes(10)),
        arguments: KeySlotChange.allCases)
    func kill(_ change: KeySlotChange) async throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        try change.prepare(model)
        let count = try countOperations(change)
        #expect(count > 3)
        var seen: Set<Set<String>> = []
        let operations = Self.sample(count)
        for operation in operations {
            let copy = folder.path("\(operation)")
            try FileManager.default.copyItem(atPath: model, toPath: copy)
            await #expect(processExitsWith: .signal(SIGKILL), "\(change) before operation \(operation)") {
                [copy = copy as String, name = change.rawValue as String, operation = operation as Int64] in
                strongroom_faults_cheapen_derivations(true)
                strongroom_faults_kill_after(operation)
                try KeySlotChange(rawValue: name)!.run(copy)
            }
            seen.insert(try change.opened(copy))
            try FileManager.default.removeItem(atPath: copy)
        }
        #expect(seen == [change.outcomes.before, change.outcomes.after], "\(change): \(seen)")
        print("\(change): killed before each of \(operations.count) of \(count) changes of files")
    }

    /// The moments of a change.
    static func sample(_ count: Int64) -> [Int64] {
        Form.every(10, of: 0..<count, "changes of files in a change of key slots, the last one")
    }

    @Test(
        "in which a file fails keeps all secrets or has all new ones, and keeps every row",
        .timeLimit(.minutes(10)), arguments: KeySlotChange.allCases, [false, true])
    func fault(_ change: KeySlotChange, isLasting: Bool) async throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        try change.prepare(model)
        let count = try countOperations(change)
        // In a process of its own: all of its files fail.
        await #expect(processExitsWith: .success) {
            [
                folder = folder.path as String, name = change.rawValue as String, count = count as Int64,
                isLasting = isLasting as Bool
            ] in
            try KeySlotFaults(change: KeySlotChange(rawValue: name)!, folder: folder, isLasting: isLasting).run(count)
        }
        let tally = (try? String(contentsOfFile: folder.path("tally"), encoding: .utf8)) ?? "nothing was run"
        #expect(tally.hasPrefix("done"), "\(change): \(tally)")
        print("\(change)\(isLasting ? ", lasting" : ""): \(tally)")
    }

    /// Returns how many changes of files a change takes.
    private func countOperations(_ change: KeySlotChange) throws -> Int64 {
        let copy = folder.path("counted")
        try FileManager.default.copyItem(atPath: model, toPath: copy)
        strongroom_faults_kill_after(-1)
        try change.run(copy)
        return strongroom_faults_operations()
    }
}

/// Lets each change of a file fail in turn, and writes down what came of it.
private struct KeySlotFaults {
    let change: KeySlotChange
    let folder: String
    /// True if all later ones fail, too.
    let isLasting: Bool

    func run(_ count: Int64) throws {
        strongroom_faults_cheapen_derivations(true)
        let operations = KeySlotKillTests.sample(count)
        var failed = 0
        for operation in operations {
            let copy = folder + "/\(operation)"
            try FileManager.default.copyItem(atPath: folder + "/model", toPath: copy)
            do {
                if try !succeeds(operation, copy) { failed += 1 }
            } catch {
                note("operation \(operation) of \(count): \(error)")
                exit(EXIT_FAILURE)
            }
            try FileManager.default.removeItem(atPath: copy)
        }
        note("done: \(operations.count) faults, \(failed) of them errors")
    }

    /// Returns true if the change succeeded in spite of the fault.
    private func succeeds(_ operation: Int64, _ copy: String) throws -> Bool {
        strongroom_faults_fail_after(operation, isLasting)
        let result = Result { try change.run(copy) }
        strongroom_faults_fail_after(-1, false)
        let secrets = try change.opened(copy), outcomes = change.outcomes
        guard secrets == outcomes.before || secrets == outcomes.after else {
            throw DatabaseError(message: "opened by \(secrets), after \(result)")
        }
        guard case .failure(let error) = result else {
            guard secrets == outcomes.after else { throw DatabaseError(message: "it did not fail, nor take place") }
            return true
        }
        guard error is DatabaseError else { throw error }
        return false
    }

    private func note(_ text: String) {
        _ = FileManager.default.createFile(atPath: folder + "/tally", contents: Data(text.utf8))
    }
}
