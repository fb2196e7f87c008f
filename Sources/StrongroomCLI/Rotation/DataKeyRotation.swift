import Strongroom

// rotate --data-key, --slots and --no-slots: every page gets a new key. Passphrases may stay.

extension Rotate {
    func renewDataKey() throws {
        let file = files[0], target = try Target(file, format)
        try target.requireEncrypted()
        guard target.inspection.hasSlotFile else { throw Failure(reason: .unfitKeySlots, file: file)! }
        let secret = try passphrase.secret(opening: target)
        let kept = try [secret.key] + keepFile.map { try SecretSource.file($0).read("", option: "keep-file").key }
        let dropped = try attributing(to: file, opening: secret) {
            try target.reading(secret) { try $0.keySlots().slots(notOpenedBy: kept) }
        }
        guard dropOtherSlots || dropped.isEmpty else { throw refusal(file, dropped) }
        let members: [(String, JSON)] = [("dropped_slots", .list(dropped.map(\.json)))]
        guard !dryRun else {
            let count = counted(dropped.count, "slot")
            let ending = dropped.isEmpty ? "" : " \(count) would be dropped: \(names(dropped))."
            return try predict(target, secret, members, ending)
        }
        let outcome = try renew(target, secret, .keeping(kept, droppingOthers: dropOtherSlots))
        try report(
            target, outcome, members,
            """
            every page has a new key, and was checked.\(droppedText(dropped)) \
            \(ending(outcome, "Former slot files do"))
            """)
    }

    /// Changes the key to a new data key, with one slot.
    func createSlots() throws {
        let file = files[0], target = try Target(file, format)
        try target.requireEncrypted()
        guard !target.inspection.hasSlotFile else { return try finish(target, "it has key slots already") }
        let secret = try passphrase.secret(opening: target), own = try secretOfChange(secret, file)
        let source = own === secret ? try passphrase.source : try newPassphrase.source
        let new = try slot.slot(source, own, of: file)
        guard !dryRun else {
            try attributing(to: file) { try new.validateForGivenSecret() }
            let noun = own === secret ? "passphrase" : "new passphrase"
            return try predict(target, secret, [], " The \(noun) would have a key slot.")
        }
        let outcome = try renew(target, secret, .creating(new, secret: own.key))
        let slots = try attributing(to: file) { try DatabaseFile.keySlots(path: target.place.path) }
        try report(
            target, outcome, [("slots", .list(slots.map(\.json)))],
            """
            every page has a new key, and was checked. The \(own === secret ? "" : "new ")passphrase has a key slot. \
            \(ending(outcome, "The former key does"))
            """)
    }

    /// Removes the slots: the passphrase encrypts the database again.
    func removeSlots() throws {
        let file = files[0], target = try Target(file, format)
        try target.requireEncrypted()
        guard target.inspection.hasSlotFile else { return try finish(target, "it has no key slots") }
        let secret = try passphrase.secret(opening: target)
        let opened = try target.reading(secret) { try $0.keySlots().opened }
        guard opened?.kind != .recoveryCode || newPassphrase.isGiven else {
            throw Failure(
                .other, file: file, "a recovery code was given, which is not kept; nothing was changed",
                remedy: "Give the new passphrase with --new-passphrase-file FILE")
        }
        let own = try secretOfChange(secret, file)
        guard !dryRun else {
            let noun = (own === secret ? "" : "new ") + own.shortNoun
            return try predict(target, secret, [], " It would have no key slots, and the \(noun) would open it.")
        }
        let outcome = try renew(target, secret, .removing(newKey: own.key))
        try report(
            target, outcome, [],
            """
            every page has a new key, and was checked. It has no key slots; the \(own === secret ? "" : "new ")\
            \(own.shortNoun) opens it. \(ending(outcome, "Former slot files do"))
            """)
    }

    /// Finishes a change that an earlier run has made, or that was never needed: the passphrase that the database is to
    /// have must open it.
    ///
    /// - parameter state: the words for what the database has, or has not.
    private func finish(_ target: Target, _ state: String) throws {
        let secret = try secretAfterChange(target, state), isPending = target.inspection.isRotationPending
        var outcome = RotationOutcome.complete
        if isPending {
            outcome =
                try dryRun
                ? target.predictedOutcome(waits: false) : target.writing(secret) { try $0.finishKeyRotation() }
        }
        let status: Status = outcome == .complete ? .done : .formerKeyRemains
        let remains = status == .done ? "" : " \(ending(outcome, ""))"
        try output.done(
            Self.self, target.name,
            [
                ("outcome", .text(isPending ? "finished" : "already")), ("bytes", .integer(target.inspection.size)),
                ("former_key_remains", .bool(status != .done)),
            ] + (dryRun ? [("dry_run", .bool(true))] : []), status: status,
            text: "\(target.name): \(state), and the \(secret.shortNoun) opens it.\(remains)")
        if status != .done { throw ReportedError(status: status) }
    }

    /// Returns the passphrase that the database is to have, which opens it.
    private func secretAfterChange(_ target: Target, _ state: String) throws -> GivenSecret {
        guard newPassphrase.isGiven else {
            return try passphrase.unlocking(target.name) { secret, _ in
                try target.reading(secret) { _ in }
                return secret
            }
        }
        let secret = try newPassphrase.new(for: target.name)
        do {
            try target.reading(secret) { _ in }
        } catch var failure as Failure where failure.status == .wrongKey {
            failure.happened = "\(state), and the new \(secret.shortNoun) does not open it; nothing was changed"
            failure.remedy = "Without --slots and --no-slots, strongroom rotate gives it the new one"
            throw failure
        }
        return secret
    }

    /// Returns the new passphrase if there is one, and the present one otherwise. A data key is not a passphrase.
    private func secretOfChange(_ present: GivenSecret, _ file: String) throws -> GivenSecret {
        present.isUsedAsKey || newPassphrase.isGiven ? try newPassphrase.new(for: file) : present
    }

    /// Looks for the obstacles that the change would meet, and predicts its outcome. Changes nothing.
    private func predict(_ target: Target, _ secret: GivenSecret, _ members: [(String, JSON)], _ ending: String) throws
    {
        try Room(for: target).require(for: target.name)
        let locks = FileLocks(path: target.place.path)
        if target.inspection.isRotationPending, locks.isRead {
            throw Failure(
                .busy, file: target.name,
                "programs still read pages from before an earlier rotation; nothing was changed",
                remedy: "Let them finish, then run this again")
        }
        let plan = try Interruption.deferred {
            try target.dryPlan(RotationKeys(old: secret), waits: false, OpenElsewhere(), $0)
        }
        let status: Status = plan.outcome == .complete ? .done : .formerKeyRemains
        let readers = status == .done ? "" : " Another program reads it, and until it is done pages of it would remain."
        try output.done(
            Self.self, target.name,
            [
                ("outcome", .text("planned")), ("dry_run", .bool(true)), ("changes", .text("pages")),
                ("bytes", .integer(target.inspection.size)), ("needed_bytes", .integer(plan.room.needed)),
                ("available_bytes", .integer(plan.room.available)),
            ] + members + [("former_key_remains", .bool(status != .done))], status: status,
            text: """
                \(target.name): the \(secret.shortNoun) opens it; \(target.inspection.size) bytes would be encrypted \
                again.\(ending)\(readers) Nothing was changed.
                """)
        if status != .done { throw ReportedError(status: status) }
    }

    private func report(
        _ target: Target, _ outcome: RotationOutcome, _ members: [(String, JSON)], _ text: String
    ) throws {
        let status: Status = outcome == .complete ? .done : .formerKeyRemains
        try output.done(
            Self.self, target.name,
            [
                ("outcome", .text("rotated")), ("changed", .text("pages")), ("bytes", .integer(target.inspection.size)),
            ] + members + [("former_key_remains", .bool(outcome != .complete))], status: status,
            text: "\(target.name): \(text)")
        if status != .done { throw ReportedError(status: status) }
    }

    private func renew(_ target: Target, _ secret: GivenSecret, _ change: KeySlotRotation) throws -> RotationOutcome {
        try Room(for: target).require(for: target.name)
        let display = ProgressDisplay(
            "rotating", files: [(target.name, target.inspection.size)], progress, quiet: output.quiet)
        defer { display.clear() }
        return try Interruption.deferred { interruption in
            try target.writing(secret, interruption) { queue in
                try queue.rotateKey(change) { done in
                    try interruption.check()
                    display.show(target.name, done)
                }
            }
        }
    }

    private func refusal(_ file: String, _ dropped: [KeySlot]) -> Failure {
        Failure(
            .other, file: file, "these slots would be dropped: \(names(dropped)); nothing was changed",
            details: [("dropped_slots", .list(dropped.map(\.json)))],
            remedy: "Give their secrets with --keep-file, or allow it with --drop-other-slots")
    }

    /// - parameter former: what opens it no more, and "do" or "does".
    private func ending(_ outcome: RotationOutcome, _ former: String) -> String {
        switch outcome {
        case .complete: "\(former) not open it."
        case .formerKeyRemains:
            """
            Another program still reads pages of the former key. The next opening after that program is done removes \
            them.
            """
        case .unfinished:
            """
            What is left of the former key could not be removed, because a file could not be written. Make room and \
            check the permissions: the next opening removes it.
            """
        }
    }

    private func droppedText(_ dropped: [KeySlot]) -> String {
        dropped.isEmpty ? "" : " \(counted(dropped.count, "slot")) dropped: \(names(dropped))."
    }

    private func names(_ slots: [KeySlot]) -> String { slots.map { "\($0.id) (\($0.label))" }.joined(separator: ", ") }
}
