// A key can't change inside of a transaction. If a program changes it as the first step of a write, the transaction
// around ends before the rotation, and begins again after it.

extension Rotation {
    /// Runs `rotation` outside of the surrounding transaction, in which no statement has run yet.
    ///
    /// - throws: the error of `rotation`; `SQLITE_MISUSE` inside of any other transaction.
    func outsideOfUntouchedTransaction<T>(_ rotation: () throws -> T) throws -> T {
        guard database.isInsideTransaction else { return try rotation() }
        guard database.transactions.blockDepth > 0, database.transactions.isUntouched else {
            throw DatabaseError(
                refusing: "a key can't be changed inside a transaction in which a statement has run",
                advice: "change the key first in the transaction, or use writeWithoutTransaction")
        }
        // Statements of a block fail if the transaction that it relies on has ended.
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
                advice: "repeat the statements after the change")
        }
        return try outcome.get()
    }
}
