// The key of a database can't change inside of a transaction. Programs that change it as the first thing of a write
// get a transaction of their own all the same: it ends, and begins again once the key is another one.

extension Rotation {
    /// Runs `rotation` outside of the transaction of the block around, in which nothing has run yet.
    ///
    /// - throws: what `rotation` throws; `SQLITE_MISUSE` inside of any other transaction.
    func outsideOfUntouchedTransaction<T>(_ rotation: () throws -> T) throws -> T {
        guard database.isInsideTransaction else { return try rotation() }
        guard database.transactions.blockDepth > 0, database.transactions.isUntouched else {
            throw DatabaseError(
                refusing: "a key can't be changed inside a transaction that has begun its work",
                advice: "make it the first thing in the transaction, or use writeWithoutTransaction")
        }
        // Statements fail in a block that relies on a transaction which is gone.
        let depth = database.transactions.blockDepth, date = database.transactions.date
        database.transactions.blockDepth = 0
        defer { database.transactions.blockDepth = depth }
        try database.withoutObservers { try database.untraced { try database.runUnseen("COMMIT") } }
        database.transactions.didPause()
        let outcome = Result { try rotation() }
        do {
            try database.untraced { try database.beginTransaction(database.transactions.kind) }
            database.transactions.date = date
        } catch {
            database.transactionDidEnd(notifiesObservers: true, isCommitted: false)
            _ = try outcome.get()
            throw DatabaseError(
                (error as? DatabaseError)?.extendedResultCode ?? .SQLITE_ABORT, .keyChanged,
                "the key was changed, and the transaction around it could not begin again",
                advice: "try what follows once more")
        }
        return try outcome.get()
    }
}
