import CStrongroom

// Around each run: the checks before it, and what it changes in the state of the connection.

extension Statement {
    /// Refuses a statement that the connection may not run now.
    @inline(__always)
    func willRun() throws {
        if strongroom_stops(connection) != 0 { try database.stops.refuse(self) }
        if database.transactions.blockDepth > 0 || hasEffects { try checkRun() }
    }

    private func checkRun() throws {
        if database.transactions.blockDepth > 0 {
            // A program may end the transaction of a snapshot and begin another one, to read a newer state.
            if database.isAutocommit, !(database.configuration.readonly && compilation.transaction == .begin) {
                throw error(.aborted)
            }
            database.transactions.isUntouched = false
        }
        if mayWrite { try checkWrite() }
        if makesDatabases || database.parts.concerns.contains(hasEffects ? .effects : .reads) {
            try notifyPartsOfRun()
        }
        connection.pointee.tripped = false
        if let transaction = compilation.transaction { try database.stops.begin(self, transaction) }
        if compilation.attaches { strongroom_set_opening(connection) }
    }

    /// Calls the parts. A query of a part may meet a stop, which rolls back. The statement must not commit by itself
    /// then.
    private func notifyPartsOfRun() throws {
        let wasAutocommit = database.isAutocommit
        for part in database.parts.all { try part.willRun(self, in: database) }
        if !wasAutocommit, database.isAutocommit { throw error(.aborted) }
    }

    private func checkWrite() throws {
        if database.transactions.readOnlyDepth > 0 { throw error(.readOnly) }
        // A transaction that has released its lock can't rely on its former reads.
        if database.transactions.isReader { throw error(.aborted) }
        // BEGIN IMMEDIATE by itself changes nothing.
        if compilation.transaction == nil { database.transactions.mayHaveChanges = true }
    }

    /// Updates the state of the connection after a statement, and throws the statement's failure.
    @inline(__always)
    func didRun(failure: DatabaseError?) throws {
        // A failure, even of a read, may have rolled the transaction back.
        if failure != nil || hasEffects && !changesOnlyUnobservedRows {
            let undone = updateConnection(isDone: failure == nil)
            if failure == nil, let refusal = undone ?? database.transactions.takeRefusal() { throw refusal }
        }
        if strongroom_stops(connection) != 0 || failure != nil && connection.pointee.wait_was_stopped {
            try database.stops.conclude(self, failure)
        }
        if let failure { throw database.transactions.takeRefusal() ?? failure }
    }

    /// True if the statement changed rows inside a transaction that goes on, and no part is concerned.
    private var changesOnlyUnobservedRows: Bool {
        changesRowsOnly && !database.isAutocommit
            && (!database.parts.concerns.contains(.effects)
                || !database.parts.all.contains { $0.isConcerned(by: self) })
    }

    /// Updates the state of the connection. Returns the error by which a part has undone what the statement did.
    private func updateConnection(isDone: Bool) -> (any Error)? {
        strongroom_commit_ends(connection)
        if compilation.transaction != nil { database.stops.end() }
        if compilation.attaches { strongroom_set_opening(nil) }
        connection.pointee.tripped = false
        if compilation.changesSchema { database.statements.removeAll() }
        var refusal: (any Error)?
        for part in database.parts.all {
            do { try part.didRun(self, isDone: isDone, in: database) } catch { refusal = refusal ?? error }
        }
        if isDone, let transaction = compilation.transaction { database.transactions.updateSavepoints(transaction) }
        database.updateTransactionState()
        return refusal
    }
}
