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
            if let next = try managed.load(.next) { try settleEarlierChange(managed, next) }
            let current = try managed.load(.current)
            if let current, try !current.hasSameBytes(as: own) { return try rotate(current) }
            // A key that the store doesn't have is the program's to keep.
            return try renewKey(managed, policy, keeping: current, rotate)
        }
        cipher.keyring.storedKey = .current
        return outcome
    }

    private func renewKey(
        _ managed: ManagedKey, _ policy: FormerKeys, keeping current: DatabaseKey?,
        _ rotate: (DatabaseKey) throws -> RotationOutcome
    ) throws -> RotationOutcome {
        if current != nil { try managed.requireKeeping(policy) }
        let key = try DatabaseKey.random()
        try managed.keep(key, as: .next)
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
                try? managed.remove(.next)
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

    /// Settles a change that was killed. Its next key is either that of the database, or was never used.
    private func settleEarlierChange(_ managed: ManagedKey, _ next: DatabaseKey) throws {
        if try next.hasSameBytes(as: cipher.key!) { return try managed.takeOver(next) }
        // Another process may have changed the key since this connection was opened.
        try database.requireOpening(bareEncryption)
        try managed.remove(.next)
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
