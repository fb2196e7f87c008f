import Strongroom

/// The outcome of a rotation for one database, in words and as JSON.
struct RotationReport {
    let step: RotationStep
    /// Nil where no key was asked for.
    let keys: RotationKeys?
    /// Of a dry run.
    var estimate: Estimate?
    var isDry = false

    private var old: String { keys?.oldNoun ?? "passphrase" }
    private var new: String { keys?.newNoun ?? "passphrase" }

    /// The outcome in words; nil for a failure.
    var text: String? {
        switch step.state {
        case .rotated where hasSlots:
            "\(step.file): the slot of the old \(old) has the new \(new); no page was written."
        case .rotated(let outcome): "\(step.file): \(undone)rotated and checked. \(ending(outcome))"
        case .finished where isDry:
            "\(step.file): \(interrupted); it would be finished, and checked.\(readers) Nothing was changed."
        case .finished(.complete):
            "\(step.file): \(interrupted); it is finished now, and checked. \(ending(.complete))"
        case .finished(let outcome):
            "\(step.file): an earlier rotation is not finished. \(ending(outcome))"
        case .already: "\(step.file): the new \(new) opens it already; nothing was changed."
        case .checked(let plan): "\(step.file): " + prediction(plan)
        case .found, .failed, .skipped: nil
        }
    }

    private var change: JSON { .text(hasSlots ? "passphrase" : "pages") }

    private var hasSlots: Bool { step.target?.inspection.hasSlotFile ?? false }

    private var interrupted: String { "an earlier rotation was interrupted when the new \(new) had taken over" }

    private func ending(_ outcome: RotationOutcome) -> String {
        switch outcome {
        case .complete: "Only the new \(new) opens it."
        case .formerKeyRemains:
            """
            The new \(new) opens it; but another program still reads pages of the old one, and until they are removed \
            the old \(old) opens the file without its log. Run this again when that program is done, or with --wait.
            """
        case .unfinished:
            """
            The new \(new) opens it; but what is left of the old one could not be removed, because a file could not be \
            written. Make room and check the permissions, then run this again.
            """
        }
    }

    /// Of a dry run.
    private var readers: String {
        step.status == .formerKeyRemains
            ? " Another program reads it, and until it is done pages of the old \(old) would remain." : ""
    }

    private var undone: String {
        guard step.wasPending else { return "" }
        return "an earlier rotation was interrupted before the new \(new) had taken over, and was undone; now it is "
    }

    private func prediction(_ plan: RotationPlan) -> String {
        guard !hasSlots else {
            return "the \(old) opens it; its slot would be changed, and no page. Nothing was changed."
        }
        var text = "the \(old) opens it; \(bytes) bytes would be encrypted again"
        if let seconds = seconds(plan) { text += " in about \(duration(seconds))" }
        text += ", with \(megabytes(plan.room.needed)) of room beside it (there are \(megabytes(plan.room.available)))."
        if step.wasPending { text += " An earlier rotation was interrupted, and would be undone first." }
        let others = others(plan).map { " \($0.prefix(1).uppercased())\($0.dropFirst())." } ?? ""
        return text + others + readers + " Nothing was changed."
    }

    /// A warning that names the processes that must reopen the database after its key has changed; nil if there are
    /// none.
    var warning: String? { step.plan.flatMap(others).map { "\(step.file): \($0)" } }

    private func others(_ plan: RotationPlan) -> String? {
        guard !plan.processes.isEmpty else { return nil }
        let names = plan.processes.map { "\($0.name) (process \($0.identifier))" }.joined(separator: ", ")
        return "it is open in \(names) too, which must open it again with the new \(new)"
    }

    private var bytes: Int64 { step.target?.inspection.size ?? 0 }

    private func seconds(_ plan: RotationPlan) -> Double? { estimate?.seconds(for: bytes, opening: plan.opening) }

    /// The predicted duration in seconds; nil unless this is a dry run.
    var seconds: Double? { step.plan.flatMap(seconds) }

    /// After the file and the status.
    var members: [(String, JSON)] {
        switch step.state {
        case .rotated:
            [
                ("outcome", .text("rotated")), ("changed", change),
                ("bytes", .integer(bytes)), ("undone_before", .bool(step.wasPending)), remains,
            ]
        case .finished: [("outcome", .text("finished")), ("bytes", .integer(bytes)), remains] + dryness
        case .already: [("outcome", .text("already")), ("bytes", .integer(bytes))] + dryness
        case .checked(let plan): members(plan)
        case .failed: [("outcome", .text("failed"))]
        case .skipped: [("outcome", .text("skipped"))]
        case .found: []
        }
    }

    private var remains: (String, JSON) { ("former_key_remains", .bool(step.status == .formerKeyRemains)) }
    private var dryness: [(String, JSON)] { isDry ? [("dry_run", .bool(true))] : [] }

    private func members(_ plan: RotationPlan) -> [(String, JSON)] {
        [
            ("outcome", .text("planned")), ("dry_run", .bool(true)), ("changes", change), ("bytes", .integer(bytes)),
            ("needed_bytes", .integer(plan.room.needed)), ("available_bytes", .integer(plan.room.available)),
            ("seconds", seconds(plan).map { .real(($0 * 1000).rounded() / 1000) } ?? .null),
            ("is_rotation_pending", .bool(step.wasPending)), remains,
            (
                "processes",
                .list(
                    plan.processes.map {
                        .object([("process", .integer(Int64($0.identifier))), ("name", .text($0.name))])
                    })
            ),
        ]
    }

    /// The JSON of one of several files.
    var json: JSON {
        let failure = step.failure
        var object: [(String, JSON)] = [
            ("file", .text(step.file)), ("status", .integer(Int64(step.status.rawValue))),
        ]
        object += members
        if let failure { object += failure.members }
        return .object(object)
    }
}
