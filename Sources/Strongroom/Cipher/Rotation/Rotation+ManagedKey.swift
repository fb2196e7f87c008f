// Changes of a key in a key store. At every instant, the store has the key of the database.

extension Rotation {
    /// Runs `rotate` with a new key that the store has. At every instant, the store has the key of the database, and
    /// the key of each copy that was made before, unless the program has said to discard it.
    ///
    /// A current key of the store that is not the database's is not replaced: it may open another database.
    func renewKey(
        in store: any KeyStore, _ policy: FormerKeys, _ rotate: (DatabaseKey) throws -> RotationOutcome
    ) throws -> RotationOutcome {
        let managed = ManagedKey(store: store, path: database.filePath), own = cipher.key!
        let outcome = try managed.locked(milliseconds: 0) {
            var next = try managed.load(.next)
            if let killed = next, try killed.hasSameBytes(as: own) {
                try managed.settle(killed)
                next = nil
            }
            let current = try managed.load(.current)
            if try current?.hasSameBytes(as: own) != true, try !managed.has(own) { try managed.claim() }
            if let current, try !current.hasSameBytes(as: own) { return try rotate(current) }
            // A key that the store doesn't have is the program's to keep.
            return try renewKey(managed, policy, keeping: current, after: next, rotate)
        }
        cipher.keyring.storedKey = .current
        return outcome
    }

    /// - parameter killed: the next key that another rotation has left. Nil for none.
    private func renewKey(
        _ managed: ManagedKey, _ policy: FormerKeys, keeping current: DatabaseKey?, after killed: DatabaseKey?,
        _ rotate: (DatabaseKey) throws -> RotationOutcome
    ) throws -> RotationOutcome {
        if current != nil { try requireKeeping(policy, managed) }
        let unfinished = try killed.flatMap { try settleEarlierChange(managed, $0) }
        let key = try unfinished ?? DatabaseKey.random()
        if unfinished == nil { try managed.keep(key, as: .next) }
        var former: FormerKey?, outcome = RotationOutcome.unfinished
        do {
            if policy.isKeeping, let current { former = try managed.keepFormer(current) }
            outcome = try rotate(key)
        } catch {
            // If the store fails now, the next opening or the next change repeats this step.
            let isChanged = (error as? DatabaseError)?.reason == .keyChanged
            if isChanged {
                try? managed.takeOver(key)
            } else {
                if unfinished == nil { try? managed.remove(.next) }
                if let former { try? managed.forget(former) }
            }
            throw error
        }
        try finishChange(managed, key)
        // The key was changed. What fails now is done by the next change.
        if !policy.isKeeping, let current { try? managed.forgetFormerKeys(equalTo: current) }
        try? managed.forgetFormerKeys(policy)
        return outcome
    }

    /// Throws if the store can't keep the current key, or if the rotation of a copy would discard, now or later, the
    /// key of the database that the store has recorded.
    private func requireKeeping(_ policy: FormerKeys, _ managed: ManagedKey) throws {
        try managed.requireKeeping(policy)
        if !policy.isKeeping || policy.period != nil { try managed.refuseOtherDatabase() }
    }

    /// Settles a change that was killed. Its next key was never used, or is that of another database: a copy and its
    /// original share the store. So it becomes a former key.
    ///
    /// - returns: the next key, which has to be the new key, if the store can't keep former keys.
    private func settleEarlierChange(_ managed: ManagedKey, _ next: DatabaseKey) throws -> DatabaseKey? {
        // Another process may have changed the key since this connection was opened.
        try database.requireOpening(bareEncryption)
        guard try managed.setAside(next) else { return next }
        try managed.remove(.next)
        return nil
    }

    private func finishChange(_ managed: ManagedKey, _ key: DatabaseKey) throws {
        do {
            try managed.takeOver(key)
        } catch let error as DatabaseError {
            throw DatabaseError(
                error.extendedResultCode, .keyChanged, "the key was changed, and the store has it as its next key",
                advice: "the next opening makes it the current one: \(error.message ?? "")")
        }
    }
}
