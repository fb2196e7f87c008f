import Foundation
import TestSupport
import Testing

@Suite("Random programs do in Strongroom what they do in plain C, and observers miss nothing", .timeLimit(.minutes(30)))
struct RandomProgramTests {
    /// `STRONGROOM_SEED` runs one program again.
    private static let seeds =
        ProcessInfo.processInfo.environment["STRONGROOM_SEED"].flatMap(Int64.init).map { [$0] }
        ?? Form.every(20, of: 0..<1000, "random programs")

    @Test(
        "Results, contents, events, ends of transactions and last values are those of plain C",
        arguments: [WriterKind.queue, .pool])
    func programs(_ kind: WriterKind) throws {
        // Queues and pools take turns. A single program runs in both.
        let isEven = kind == .queue
        for (index, seed) in Self.seeds.enumerated() where Self.seeds.count == 1 || index.isMultiple(of: 2) == isEven {
            let run = try RandomRun(kind, seed: UInt64(seed))
            try run.run(steps: 60)
            if run.failed {
                Issue.record("seed \(seed)")
                return
            }
        }
    }
}
