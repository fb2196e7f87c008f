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
        /// An earlier run was interrupted after the new key had taken over; what it left is done as far as readers let it, or
        /// would be.
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
        case .skipped: .notBegun(file)
        default: nil
        }
    }

    /// What the change of key has left, or would leave; nil where there is none.
    var outcome: RotationOutcome? {
        switch state {
        case .rotated(let outcome), .finished(let outcome): outcome
        case .checked(let plan): plan.outcome
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
    /// What it would leave of the old key, as far as a dry run can tell.
    var outcome: RotationOutcome?
    /// The open database; nil when there are too many to keep them all open, and in a dry run.
    var queue: DatabaseQueue?
}

// MARK: - Work

extension Target {
    /// Opens the database with the old key, and finds out what would be in the way of a rotation.
    func plan(_ keys: RotationKeys, keepingOpen: Bool, _ others: OpenElsewhere) throws -> RotationPlan {
        let room = try requireRotatable(keys)
        let began = DispatchTime.now().uptimeNanoseconds
        let queue = try self.queue(keys.old)
        let opening = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        do {
            // Somebody who writes now is better met before than in the middle.
            try attributing(to: name) { try queue.inTransaction(.immediate) { _ in .rollback } }
        } catch var failure as Failure {
            failure.addRemedy("The old \(keys.oldNoun) opens it")
            throw failure
        }
        if !keepingOpen { try attributing(to: name) { try queue.close() } }
        return RotationPlan(
            room: room, opening: opening, processes: others.processes(having: place.path), queue: keepingOpen ? queue : nil)
    }

    /// Finds out the same, and whether every page is what the old key wrote, without changing anything.
    func dryPlan(
        _ keys: RotationKeys, waits: Bool, _ others: OpenElsewhere, _ interruption: Interruption) throws -> RotationPlan
    {
        let room = try requireRotatable(keys)
        let began = DispatchTime.now().uptimeNanoseconds
        try attributing(to: name) { try DatabaseFile.reading(path: place.path,
            encryption: encryption(keys.old)) { _ in } }
        let opening = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        let locks = FileLocks(path: place.path)
        if locks.isWritten || locks.isRead && !locks.hasLog {
            throw Failure(.busy, file: name, "another program is using it (it holds a lock)",
                          remedy: "Stop that program or let it finish, then run this again. "
                            + "The old \(keys.oldNoun) opens it")
        }
        let report = try attributing(to: name) {
            try DatabaseFile.check(path: place.path, encryption: encryption(keys.old),
                                   pagesOnly: true) { _ in try interruption.check() }
        }
        guard report.isIntact else {
            throw Failure(.damaged, file: name, "it is damaged (\(report.problems[0]))",
                          remedy: "Keep a copy of it as it is, and restore from a backup")
        }
        return RotationPlan(
            room: room, opening: opening, processes: others.processes(having: place.path), outcome: foreseen(waits: waits))
    }

    /// Who reads in a transaction keeps pages of the old key.
    private func foreseen(waits: Bool) -> RotationOutcome {
        FileLocks(path: place.path).isRead && !waits ? .formerKeyRemains : .complete
    }

    private func requireRotatable(_ keys: RotationKeys) throws -> Room {
        if let links = FileIdentity(place.path)?.linkCount, links > 1 {
            throw Failure(.other, file: name,
                          "it has \(links) names (hard links), and what stands beside it only one; nothing was changed",
                          remedy: "Remove the other names, then run this again")
        }
        guard access(place.path, W_OK) == 0 else {
            throw Failure(.other, file: name,
                          "it cannot be written (\(String(cString: strerror(errno)))); nothing was changed",
                          remedy: "Check the permissions of the file and of its folder")
        }
        // The new salt of a plaintext header comes there.
        let salt = place.path + "-salt"
        if inspection.kind == .plaintextHeader, access(salt, W_OK) != 0, errno == EACCES || errno == EROFS {
            throw Failure(errno: errno, file: name, doing: "opening \(salt) to write",
                          remedy: "Nothing was changed. Check the owner and mode of that file")
        }
        let room = Room(for: self)
        // The passphrase of a slot changes, and no page.
        if !inspection.hasKeyFile { try room.require(for: name) }
        return room
    }

    /// Changes the key; a failure says which one opens the database now.
    ///
    /// - parameter waits: for those who still read pages of the old key, until they are done or an interruption comes.
    func rotate(
        _ plan: RotationPlan, _ keys: RotationKeys, waits: Bool, _ interruption: Interruption, _ display: ProgressDisplay
    ) throws -> RotationOutcome {
        do {
            return try attributing(to: name) {
                let queue = try plan.queue ?? self.queue(keys.old)
                if inspection.hasKeyFile {
                    try changeSlot(of: queue, keys)
                    try queue.close()
                    return .complete
                }
                var outcome = try queue.rotateKey(to: keys.new!) { done in
                    try interruption.check()
                    display.show(name, done)
                }
                if waits { outcome = try wait(queue, outcome, interruption) }
                try queue.close()
                return outcome
            }
        } catch var failure as Failure {
            failure.file = name
            failure.addRemedy(holder(keys))
            throw failure
        }
    }

    private func changeSlot(of queue: DatabaseQueue, _ keys: RotationKeys) throws {
        let slots = try queue.keySlots()
        guard let slot = slots.opened else {
            throw Failure(.other, file: name, "the data key was given, which is in no slot; nothing was changed",
                          remedy: "Give the passphrase of a slot, or renew the data key with --data-key")
        }
        try slots.change(slot.id, to: keys.new!)
    }

    /// What is to do for a database that the old key does not open: nothing, when an earlier run came as far as the new one.
    func finish(_ keys: RotationKeys, isDry: Bool, waits: Bool, _ interruption: Interruption) throws -> RotationStep.State {
        guard isDry else { return try finish(keys, waits: waits, interruption) }
        try attributing(to: name) {
            try DatabaseFile.reading(path: place.path, encryption: encryption(keys.new!)) { _ in }
        }
        return inspection.isRotationPending ? .finished(foreseen(waits: waits)) : .already
    }

    private func finish(_ keys: RotationKeys, waits: Bool, _ interruption: Interruption) throws -> RotationStep.State {
        // Opening finishes what was interrupted.
        let queue = try self.queue(keys.new)
        return try attributing(to: name) {
            defer { try? queue.close() }
            guard inspection.isRotationPending else { return .already }
            guard try queue.checkIntegrity().isIntact else {
                throw Failure(.damaged, file: name, "the new \(keys.newNoun) opens it, and it is damaged",
                              remedy: "Keep a copy of it as it is, and restore from a backup")
            }
            let outcome = try queue.finishKeyRotation()
            return .finished(try waits ? wait(queue, outcome, interruption) : outcome)
        }
    }

    /// Asks again and again, for as long as a lock is waited for each time.
    private func wait(
        _ queue: DatabaseQueue, _ outcome: RotationOutcome, _ interruption: Interruption) throws -> RotationOutcome
    {
        var outcome = outcome
        while outcome == .formerKeyRemains, !interruption.isRequested { outcome = try queue.finishKeyRotation() }
        return outcome
    }

    /// Which key to keep, found out by trying rather than by reasoning.
    private func holder(_ keys: RotationKeys) -> String {
        func opens(_ key: DatabaseKey) -> Bool {
            (try? DatabaseFile.reading(path: place.path, encryption: encryption(key)) { _ in }) != nil
        }
        if opens(keys.old) { return "The old \(keys.oldNoun) opens it" }
        if opens(keys.new!) { return "The new \(keys.newNoun) opens it" }
        return "It could not be opened to see which of the two opens it: keep both"
    }
}
