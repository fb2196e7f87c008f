import Foundation
import Strongroom

/// One database of a rotation, from the look at it to the outcome.
struct RotationStep: Sendable {
    enum State: Sendable {
        /// Looked at from outside.
        case found
        /// The old key opens it and nobody is in the way.
        case checked(RotationPlan)
        case rotated(RotationOutcome)
        /// An earlier run was interrupted after the new key had taken over; what it left is done, as far as readers let it.
        case finished(RotationOutcome)
        /// The new key opens it, and nothing was to be done.
        case already
        case failed(Failure)
        /// The run was interrupted before its turn.
        case skipped
    }

    let file: String
    /// Nil for what is no encrypted database.
    let target: Target?
    var state: State

    init(_ file: String, _ format: FormatOptions) {
        self.file = file
        do {
            let target = try Target(file, format)
            try target.requireEncrypted()
            self.target = target
            state = .found
        } catch {
            target = nil
            state = .failed(Failure(any: error, file: file))
        }
    }

    /// A rotation of it was interrupted before this run, or is under way.
    var wasPending: Bool { target?.inspection.isRotationPending ?? false }

    var plan: RotationPlan? {
        if case .checked(let plan) = state { plan } else { nil }
    }

    var failure: Failure? {
        switch state {
        case .failed(let failure): failure
        case .skipped: Failure(.interrupted, file: file, "interrupted before its turn; nothing was changed")
        default: nil
        }
    }

    /// What the change of key has left; nil where there was none.
    var outcome: RotationOutcome? {
        switch state {
        case .rotated(let outcome), .finished(let outcome): outcome
        default: nil
        }
    }

    var status: Status { failure?.status ?? (outcome == .formerKeyRemains ? .formerKeyRemains : .done) }

    /// The step after `work`, or as it is when there is nothing to work on.
    func continued(unless interruption: Interruption, _ work: (Target) throws -> State) -> RotationStep {
        guard let target else { return self }
        var step = self
        do {
            step.state = interruption.isRequested ? .skipped : try work(target)
        } catch {
            step.state = .failed(Failure(any: error, file: file))
        }
        return step
    }
}

/// What a rotation that was checked will do.
struct RotationPlan: Sendable {
    var room: Room
    /// Seconds that opening took.
    var opening: Double
    var processes: [OpenElsewhere.Process]
    /// The open database; nil when there are too many to keep them all open.
    var queue: DatabaseQueue?
}

// MARK: - Work

extension Target {
    /// Opens the database with the old key, and finds out what would be in the way of a rotation.
    func plan(_ old: DatabaseKey, writing: Bool, keepingOpen: Bool, _ others: OpenElsewhere) throws -> RotationPlan {
        try requireSingleName()
        let room = Room(for: self)
        try room.require(for: path)
        let began = DispatchTime.now().uptimeNanoseconds
        let queue = try open(old, readonly: !writing)
        let opening = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        do {
            // Somebody who writes now is better met before than in the middle.
            if writing { try attributing(to: path) { try queue.inTransaction(.immediate) { _ in .rollback } } }
        } catch var failure as Failure {
            failure.addRemedy("The old passphrase opens it")
            throw failure
        }
        if !keepingOpen { try attributing(to: path) { try queue.close() } }
        return RotationPlan(
            room: room, opening: opening, processes: others.processes(having: path), queue: keepingOpen ? queue : nil)
    }

    /// The library would say so, too, after a passphrase was typed.
    private func requireSingleName() throws {
        var status = stat()
        guard stat(path, &status) == 0, status.st_nlink > 1 else { return }
        throw Failure(.other, file: path, "it has \(status.st_nlink) names (hard links), and its log belongs to one of them; nothing was changed",
                      remedy: "Remove the other names, or give each its own copy")
    }

    /// Changes the key; a failure says which one opens the database now.
    ///
    /// - parameter waits: for those who still read pages of the old key, until they are done or an interruption comes.
    func rotate(
        _ plan: RotationPlan, from old: DatabaseKey, to new: DatabaseKey, waits: Bool, _ interruption: Interruption,
        _ display: ProgressDisplay) throws -> RotationOutcome
    {
        do {
            return try attributing(to: path) {
                let queue = try plan.queue ?? open(old, readonly: false)
                var outcome = try queue.rotateKey(to: new) { done in
                    try interruption.check()
                    display.show(path, done)
                }
                if waits { outcome = try wait(queue, outcome, interruption) }
                try queue.close()
                return outcome
            }
        } catch var failure as Failure {
            failure.file = path
            failure.addRemedy(holder(old: old, new: new))
            throw failure
        }
    }

    /// What is to do for a database that the old key does not open: nothing, when an earlier run came as far as the new one.
    func finish(_ new: DatabaseKey, waits: Bool, _ interruption: Interruption) throws -> RotationStep.State {
        // Opening finishes what was interrupted.
        let queue = try open(new, readonly: false)
        return try attributing(to: path) {
            defer { try? queue.close() }
            guard inspection.isRotationPending else { return .already }
            guard try queue.checkIntegrity().isIntact else {
                throw Failure(.damaged, file: path, "the new passphrase opens it, and it is damaged",
                              remedy: "Keep a copy of it as it is, and restore from a backup")
            }
            let outcome = try queue.finishKeyRotation()
            return .finished(try waits ? wait(queue, outcome, interruption) : outcome)
        }
    }

    /// Asks again and again, for as long as a lock is waited for each time.
    private func wait(_ queue: DatabaseQueue, _ outcome: RotationOutcome, _ interruption: Interruption) throws -> RotationOutcome {
        var outcome = outcome
        while outcome == .formerKeyRemains, !interruption.isRequested { outcome = try queue.finishKeyRotation() }
        return outcome
    }

    /// Which passphrase to keep, found out by trying rather than by reasoning.
    private func holder(old: DatabaseKey, new: DatabaseKey) -> String {
        if (try? open(old, readonly: true)) != nil { return "The old passphrase opens it" }
        if (try? open(new, readonly: true)) != nil { return "The new passphrase opens it" }
        return "It could not be opened to see which passphrase holds: keep both"
    }
}
