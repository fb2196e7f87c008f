import CMachine
import Foundation
import Workload

/// `LifeGRDB FILE STARTED` and `LifeStrongroom FILE STARTED` live a day with the database; STARTED is the time of the
/// steady clock at which the process was started. They print a line for each step.
@main
struct App {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let started = Double(words[2]) else { fatalError("usage: \(words[0]) FILE STARTED") }
        let notes = try await measured(.coldStart, since: .beginning(at: started)) {
            let notes = try Notes(path: words[1])
            return (notes, try await notes.firstScreen())
        }
        try await measured(.list, notes.list)
        try await measured(.search, notes.search)
        try await measured(.smallWrites, notes.smallWrites)
        try await measured(.importing, notes.importContacts)
        try await measured(.backup) { try notes.backup(to: words[1] + ".backup") }
        try await measured(.passphraseChange) { try notes.changePassphrase() }
        try background(notes)
        try notes.pool.close()
    }

    private static func measured(_ step: Day.Step, _ work: @Sendable () async throws -> Int64) async throws {
        machine_forget_peak_memory()
        try await measured(step, since: .soFar()) { ((), try await work()) }
    }

    private static func measured<T>(
        _ step: Day.Step, since start: Usage, _ work: @Sendable () async throws -> (T, Int64)
    ) async throws -> T {
        let (value, check) = try await work()
        print(Day.line(step, check: check, Usage.soFar().since(start)))
        return value
    }

    /// The time of this step is that of one suspension.
    private static func background(_ notes: Notes) throws {
        machine_forget_peak_memory()
        let start = Usage.soFar()
        let (count, time) = try notes.background()
        var usage = Usage.soFar().since(start)
        usage.figures[.time] = time
        print(Day.line(.background, check: count, usage))
    }
}
