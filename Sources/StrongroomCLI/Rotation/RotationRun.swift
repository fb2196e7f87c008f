import Foundation
import Strongroom

/// A rotation of one or several databases, each with its own outcome.
struct RotationRun {
    private(set) var steps: [RotationStep]
    private let jobs: Int
    /// The maximum number of databases that stay open between the check and the rotation, to save descriptors.
    private static let mostOpen = 64

    init(_ files: [String], _ format: FormatOptions, jobs: Int) {
        steps = OpenElsewhere.withoutDuplicates(files).map { RotationStep($0, format) }
        self.jobs = jobs
    }

    var isSingle: Bool { steps.count == 1 }
    /// The name of the databases in prompts.
    var name: String { isSingle ? steps[0].file : counted(steps.count, "database") }
    var hasFound: Bool { steps.contains { if case .found = $0.state { true } else { false } } }
    var hasChecked: Bool { steps.contains { $0.plan != nil } }
    /// A database that the old key does not open, but perhaps the new one.
    var hasUnopened: Bool { steps.contains { $0.failure?.status == .wrongKey } }
    /// The failure if the key opened none of the databases.
    var refusalOfAll: Failure? {
        guard !hasChecked, steps.allSatisfy({ $0.target == nil || $0.failure?.status == .wrongKey }) else { return nil }
        return steps.lazy.compactMap(\.failure).first { $0.status == .wrongKey }
    }
    var hasUnopenedPending: Bool { steps.contains { $0.failure?.status == .wrongKey && $0.wasPending } }

    /// Opens each database with the old key, and looks for obstacles.
    mutating func check(_ keys: RotationKeys, isDry: Bool, waits: Bool, _ interruption: Interruption) {
        let others = OpenElsewhere(), keepingOpen = steps.count <= Self.mostOpen
        steps = concurrently(steps, jobs: jobs) { step in
            guard case .found = step.state else { return step }
            var checked = step.continued(unless: interruption) { target in
                .checked(
                    try isDry
                        ? target.dryPlan(keys, waits: waits, others, interruption)
                        : target.plan(keys, keepingOpen: keepingOpen, others))
            }
            if case .failed(let failure) = checked.state {
                checked.state = .failed(failure.naming(isRawKey: keys.oldNoun == "key"))
            }
            return checked
        }
        requireRoomForJobs()
    }

    /// Fails the databases on a file system that has too little space for the rotations that run at the same time.
    private mutating func requireRoomForJobs() {
        let growing = steps.indices.filter { steps[$0].plan != nil && !steps[$0].target!.inspection.hasSlotFile }
        for group in Dictionary(grouping: growing, by: { steps[$0].plan!.room.device }).values {
            let rooms = group.map { steps[$0].plan!.room }
            for index in group {
                guard let failure = Room.failure(rooms, jobs: jobs, of: steps[index].file) else { break }
                steps[index].state = .failed(failure)
            }
        }
    }

    /// Rotates the checked databases, and tries the new key on those that the old key does not open.
    mutating func rotate(
        _ keys: RotationKeys, waits: Bool, _ interruption: Interruption, _ display: ProgressDisplay,
        _ tell: @escaping @Sendable (RotationStep) -> Void
    ) {
        steps = concurrently(steps, jobs: jobs) { step in
            var ended = step
            if case .checked(let plan) = step.state {
                ended = step.continued(unless: interruption) {
                    .rotated(try $0.changeKey(plan, keys, waits: waits, interruption, display))
                }
            }
            // Another run may have changed the key since the check.
            ended = Self.finished(ended, keys, isDry: false, waits: waits, interruption)
            tell(ended)
            return ended
        }
    }

    /// Tries the new key on databases that the old key does not open, and on the other slots of those with key slots.
    /// Changes nothing.
    mutating func predict(_ keys: RotationKeys, waits: Bool, _ interruption: Interruption) {
        steps = concurrently(steps, jobs: jobs) { step in
            guard let plan = step.plan, step.target!.inspection.hasSlotFile else {
                return Self.finished(step, keys, isDry: true, waits: waits, interruption)
            }
            return step.continued(unless: interruption) {
                try $0.requireFreeSecret(keys)
                return .checked(plan)
            }
        }
    }

    private static func finished(
        _ step: RotationStep, _ keys: RotationKeys, isDry: Bool, waits: Bool,
        _ interruption: Interruption
    ) -> RotationStep {
        guard step.failure?.status == .wrongKey else { return step }
        let tried = step.continued(unless: interruption) {
            try $0.finish(keys, isDry: isDry, waits: waits, interruption)
        }
        // If neither key opens it, the failure of the old one is reported.
        return tried.failure?.status == .wrongKey ? step : tried
    }

    /// The status of the run: that of the failures, or "other" if they differ. An interruption precedes all others;
    /// before "done" goes a former key that remains.
    var status: Status {
        let failures = Set(steps.compactMap(\.failure?.status))
        if failures.contains(.interrupted) { return .interrupted }
        if failures.count > 1 { return .other }
        return failures.first ?? steps.map(\.status).first { $0 != .done } ?? .done
    }
}

/// Runs `body` on each element, up to `jobs` at a time, and returns the results in order.
func concurrently<Element: Sendable, Answer: Sendable>(
    _ elements: [Element], jobs: Int, _ body: @escaping @Sendable (Element) -> Answer
) -> [Answer] {
    let work = Worklist<Element, Answer>(elements)
    let group = DispatchGroup()
    for _ in 0..<max(1, min(jobs, elements.count)) {
        DispatchQueue.global().async(group: group) {
            while let (index, element) = work.next() { work.finish(index, body(element)) }
        }
    }
    group.wait()
    return work.answers
}

/// The elements, and the answers so far.
private final class Worklist<Element: Sendable, Answer: Sendable>: Sendable {
    private struct State {
        var begun = 0
        var finished: [Int: Answer] = [:]
    }

    private let elements: [Element]
    private let state = Mutex(State())

    init(_ elements: [Element]) { self.elements = elements }

    func next() -> (Int, Element)? {
        state.withLock { state in
            guard state.begun < elements.count else { return nil }
            defer { state.begun += 1 }
            return (state.begun, elements[state.begun])
        }
    }

    func finish(_ index: Int, _ answer: Answer) { state.withLock { $0.finished[index] = answer } }

    /// The results, after all are finished.
    var answers: [Answer] {
        state.withLock { state in elements.indices.map { state.finished[$0]! } }
    }
}
