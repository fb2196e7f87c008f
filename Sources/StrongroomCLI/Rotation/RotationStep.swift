import Foundation
import Strongroom

/// One database of a rotation, from its inspection to its outcome.
struct RotationStep: Sendable {
    enum State: Sendable {
        /// Inspected without a key.
        case found
        /// The old key opens it, and there is no obstacle.
        case checked(RotationPlan)
        case rotated(RotationOutcome)
        /// An earlier run was interrupted after its commit. It is finished as far as readers allow,
        /// or would be.
        case finished(RotationOutcome)
        /// The new key opens it. Nothing was done.
        case already
        case failed(Failure)
        /// The run was interrupted before its turn.
        case skipped
    }

    let file: String
    /// The database; nil if the file is no encrypted database.
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

    /// True if an earlier rotation was interrupted, or is running.
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

    /// The outcome of the rotation, or its prediction; nil if there is none.
    var outcome: RotationOutcome? {
        switch state {
        case .rotated(let outcome), .finished(let outcome): outcome
        case .checked(let plan): plan.outcome
        default: nil
        }
    }

    var status: Status { failure?.status ?? ([nil, .complete].contains(outcome) ? .done : .formerKeyRemains) }

    /// Returns the step after `work`, or as it is when there is nothing to work on.
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

/// The plan of a rotation that was checked.
struct RotationPlan: Sendable {
    var room: Room
    /// The seconds that opening took.
    var opening: Double
    var processes: [OpenElsewhere.Process]
    /// The predicted outcome of a dry run.
    var outcome: RotationOutcome?
    /// The open database; nil in a dry run, or if there are too many to keep them open.
    var queue: DatabaseQueue?
}

// MARK: - Work

extension Target {
    /// Opens the database with the old key, and looks for obstacles to a rotation.
    func plan(_ keys: RotationKeys, keepingOpen: Bool, _ others: OpenElsewhere) throws -> RotationPlan {
        let room = try requireRotatable(keys)
        let began = DispatchTime.now().uptimeNanoseconds
        let queue = try self.queue(keys.old)
        let opening = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        do {
            // A program that writes now is better detected before the rotation than during it.
            try attributing(to: name) { try queue.inTransaction(.immediate) { _ in .rollback } }
        } catch var failure as Failure {
            failure.addRemedy("The old \(keys.oldNoun) opens it")
            throw failure
        }
        if inspection.hasSlotFile { try refuseRecoveryCode(attributing(to: name) { try queue.keySlots() }) }
        if !keepingOpen { try attributing(to: name) { try queue.close() } }
        return RotationPlan(
            room: room, opening: opening, processes: others.processes(having: place.path),
            queue: keepingOpen ? queue : nil)
    }

    /// Looks for the same obstacles, and authenticates every page, without changing anything.
    func dryPlan(
        _ keys: RotationKeys, waits: Bool, _ others: OpenElsewhere, _ interruption: Interruption
    ) throws -> RotationPlan {
        let room = try requireRotatable(keys)
        let began = DispatchTime.now().uptimeNanoseconds
        try attributing(to: name) {
            try DatabaseFile.reading(path: place.path, encryption: encryption(keys.old)) { db in
                if inspection.hasSlotFile { try refuseRecoveryCode(db.keySlots()) }
            }
        }
        let opening = Double(DispatchTime.now().uptimeNanoseconds - began) / 1e9
        let locks = FileLocks(path: place.path)
        if locks.isWritten || locks.isRead && !locks.hasLog {
            throw Failure(
                .busy, file: name, "another program is using it (it holds a lock)",
                remedy: "Stop that program or let it finish, then run this again. "
                    + "The old \(keys.oldNoun) opens it")
        }
        let report = try attributing(to: name) {
            try DatabaseFile.check(
                path: place.path, encryption: encryption(keys.old),
                pagesOnly: true
            ) { _ in try interruption.check() }
        }
        guard report.isIntact else {
            throw Failure(
                .damaged, file: name, "it is damaged (\(report.problems[0]))",
                remedy: "Keep a copy of it as it is, and restore from a backup")
        }
        return RotationPlan(
            room: room, opening: opening, processes: others.processes(having: place.path),
            outcome: predictedOutcome(waits: waits))
    }

    /// Predicts the outcome: a reader in a transaction keeps pages of the old key.
    func predictedOutcome(waits: Bool) -> RotationOutcome {
        FileLocks(path: place.path).isRead && !waits ? .formerKeyRemains : .complete
    }

    private func requireRotatable(_ keys: RotationKeys) throws -> Room {
        if let links = FileIdentity(place.path)?.linkCount, links > 1 {
            throw Failure(
                .other, file: name,
                "it has \(links) names (hard links), and what stands beside it only one; nothing was changed",
                remedy: "Remove the other names, then run this again")
        }
        guard access(place.path, W_OK) == 0 else {
            throw Failure(
                .other, file: name,
                "it cannot be written (\(String(cString: strerror(errno)))); nothing was changed",
                remedy: "Check the permissions of the file and of its folder")
        }
        // The new salt of a plaintext header is written there.
        let salt = place.path(of: .salt)
        if inspection.kind == .plaintextHeader, access(salt, W_OK) != 0, errno == EACCES || errno == EROFS {
            throw Failure(
                errno: errno, file: name, "its salt file \(salt) cannot be written",
                remedy: "Check the owner and mode of that file")
        }
        let room = Room(for: self)
        // The passphrase of a slot changes, and no page.
        if !inspection.hasSlotFile { try room.require(for: name) }
        return room
    }

    /// Rotates the key. A failure says which key opens the database.
    ///
    /// - parameter waits: true to wait for readers of the old key's pages, until they end or an interruption arrives.
    func changeKey(
        _ plan: RotationPlan, _ keys: RotationKeys, waits: Bool, _ interruption: Interruption,
        _ display: ProgressDisplay
    ) throws -> RotationOutcome {
        do {
            return try attributing(to: name) {
                let queue = try plan.queue ?? self.queue(keys.old)
                if inspection.hasSlotFile {
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

    private func refuseRecoveryCode(_ slots: KeySlots) throws {
        guard slots.opened?.kind == .recoveryCode else { return }
        throw Failure(
            .usage, file: name, "the recovery code opened it, which would be given up; nothing was changed",
            remedy: "Give the slot of the lost passphrase a new one with: strongroom key passwd "
                + "\(shellQuoted(name)) SLOT")
    }

    private func changeSlot(of queue: DatabaseQueue, _ keys: RotationKeys) throws {
        let slots = try queue.keySlots()
        try slots.change(openedSlot(of: slots).id, to: keys.new!)
    }

    /// Throws what the change of the slot would throw if another slot has the new secret.
    func requireFreeSecret(_ keys: RotationKeys) throws {
        try attributing(to: name) {
            try DatabaseFile.reading(path: place.path, encryption: encryption(keys.old)) { db in
                let slots = try db.keySlots()
                try slots.requireFree(keys.new!, for: openedSlot(of: slots).id)
            }
        }
    }

    private func openedSlot(of slots: KeySlots) throws -> KeySlot {
        guard let slot = slots.opened else {
            throw Failure(
                .other, file: name, "the data key was given, which is in no slot; nothing was changed",
                remedy: "Give the passphrase of a slot, or renew the data key with --data-key")
        }
        return slot
    }

    /// Finishes an earlier run on a database that the old key does not open. Does nothing if that run has completed.
    func finish(
        _ keys: RotationKeys, isDry: Bool, waits: Bool, _ interruption: Interruption
    ) throws -> RotationStep.State {
        guard isDry else { return try finish(keys, waits: waits, interruption) }
        try attributing(to: name) {
            try DatabaseFile.reading(path: place.path, encryption: encryption(keys.new!)) { _ in }
        }
        return inspection.isRotationPending ? .finished(predictedOutcome(waits: waits)) : .already
    }

    private func finish(_ keys: RotationKeys, waits: Bool, _ interruption: Interruption) throws -> RotationStep.State {
        // Opening finishes an interrupted rotation.
        let queue = try self.queue(keys.new)
        return try attributing(to: name) {
            defer { try? queue.close() }
            guard inspection.isRotationPending else { return .already }
            guard try queue.checkIntegrity().isIntact else {
                throw Failure(
                    .damaged, file: name, "the new \(keys.newNoun) opens it, and it is damaged",
                    remedy: "Keep a copy of it as it is, and restore from a backup")
            }
            let outcome = try queue.finishKeyRotation()
            return .finished(try waits ? wait(queue, outcome, interruption) : outcome)
        }
    }

    /// Calls `finishKeyRotation` repeatedly. Each call waits as long as for a lock.
    private func wait(
        _ queue: DatabaseQueue, _ outcome: RotationOutcome, _ interruption: Interruption
    ) throws -> RotationOutcome {
        var outcome = outcome
        while outcome == .formerKeyRemains, !interruption.isRequested { outcome = try queue.finishKeyRotation() }
        return outcome
    }

    /// Determines by trying which key opens the database.
    private func holder(_ keys: RotationKeys) -> String {
        func opens(_ key: DatabaseKey) -> Bool {
            (try? DatabaseFile.reading(path: place.path, encryption: encryption(key)) { _ in }) != nil
        }
        if opens(keys.old) { return "The old \(keys.oldNoun) opens it" }
        if opens(keys.new!) { return "The new \(keys.newNoun) opens it" }
        return "It could not be opened to see which of the two opens it: keep both"
    }
}
