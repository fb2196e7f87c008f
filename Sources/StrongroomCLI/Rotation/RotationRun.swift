import Foundation
import Strongroom

/// A rotation of one or several databases: each has its own outcome, and none waits for another's.
struct RotationRun {
    private(set) var steps: [RotationStep]
    private let jobs: Int
    /// Descriptors are few: where there are more databases than this, each is opened a second time.
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
    /// When the key opened none of the databases that it was tried on.
    var refusalOfAll: Failure? {
        guard !hasChecked, steps.allSatisfy({ $0.target == nil || $0.failure?.status == .wrongKey }) else { return nil }
        return steps.lazy.compactMap(\.failure).first { $0.status == .wrongKey }
    }
    var hasUnopenedPending: Bool { steps.contains { $0.failure?.status == .wrongKey && $0.wasPending } }

    /// Opens each database with the old key, and looks for what would be in the way.
    mutating func check(_ keys: RotationKeys, isDry: Bool, waits: Bool, _ interruption: Interruption) {
        let others = OpenElsewhere(), keepingOpen = steps.count <= Self.mostOpen
        steps = concurrently(steps, jobs: jobs) { step in
            guard case .found = step.state else { return step }
            var checked = step.continued(unless: interruption) { target in
                .checked(
                    try isDry ? target.dryPlan(keys, waits: waits, others, interruption)
                        : target.plan(keys, keepingOpen: keepingOpen, others))
            }
            if case .failed(let failure) = checked.state {
                checked.state = .failed(failure.naming(isRawKey: keys.oldNoun == "key"))
            }
            return checked
        }
    }

    /// Changes the key of what was checked, and tries the new one where the old one did not fit.
    mutating func rotate(
        _ keys: RotationKeys, waits: Bool, _ interruption: Interruption, _ display: ProgressDisplay,
        _ tell: @escaping @Sendable (RotationStep) -> Void)
    {
        steps = concurrently(steps, jobs: jobs) { step in
            var ended = Self.finished(step, keys, isDry: false, waits: waits, interruption)
            if case .checked(let plan) = step.state {
                ended = step.continued(unless: interruption) {
                    .rotated(try $0.rotate(plan, keys, waits: waits, interruption, display))
                }
            }
            tell(ended)
            return ended
        }
    }

    /// Tries the new key where the old one did not fit, and changes nothing.
    mutating func foresee(_ keys: RotationKeys, waits: Bool, _ interruption: Interruption) {
        steps = concurrently(steps, jobs: jobs) { Self.finished($0, keys, isDry: true, waits: waits, interruption) }
    }

    private static func finished(
        _ step: RotationStep, _ keys: RotationKeys, isDry: Bool, waits: Bool,
        _ interruption: Interruption) -> RotationStep
    {
        guard step.failure?.status == .wrongKey else { return step }
        let tried = step.continued(unless: interruption) {
            try $0.finish(keys, isDry: isDry, waits: waits, interruption)
        }
        // When neither opens it, what was said of the old one counts.
        return tried.failure?.status == .wrongKey ? step : tried
    }

    /// Done, the one status of all failures, or "other" where they differ. An interruption goes before all; before
    /// "done" goes a former key that remains.
    var status: Status {
        let failures = Set(steps.compactMap(\.failure?.status))
        if failures.contains(.interrupted) { return .interrupted }
        if failures.count > 1 { return .other }
        return failures.first ?? steps.map(\.status).first { $0 != .done } ?? .done
    }
}

/// Runs `body` on each element, up to `jobs` at a time, and answers in their order.
func concurrently<Element: Sendable, Answer: Sendable>(
    _ elements: [Element], jobs: Int, _ body: @escaping @Sendable (Element) -> Answer) -> [Answer]
{
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

/// Unchecked: `lock` guards every variable.
private final class Worklist<Element: Sendable, Answer: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private let elements: [Element]
    private var begun = 0
    private var finished: [Int: Answer] = [:]

    init(_ elements: [Element]) { self.elements = elements }

    func next() -> (Int, Element)? {
        lock.withLock {
            guard begun < elements.count else { return nil }
            defer { begun += 1 }
            return (begun, elements[begun])
        }
    }

    func finish(_ index: Int, _ answer: Answer) { lock.withLock { finished[index] = answer } }

    /// Once all are finished.
    var answers: [Answer] { lock.withLock { elements.indices.map { finished[$0]! } } }
}
