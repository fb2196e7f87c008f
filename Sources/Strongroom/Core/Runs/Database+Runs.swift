// Around each run: the checks before it, and what it changes in the state of the connection.

extension Database {
    /// Refuses a statement that the connection may not run now.
    @inline(__always)
    func willRun(_ statement: Statement) throws {
        if !connection.stops.isEmpty { try stops.refuse(statement) }
        if transactions.blockDepth > 0 || statement.hasEffects { try checkRun(of: statement) }
    }

    private func checkRun(of statement: Statement) throws {
        if transactions.blockDepth > 0 {
            // A program may end the transaction of a snapshot and begin another one, to read a newer state.
            if isAutocommit, !(configuration.readonly && statement.compilation.transaction == .begin) {
                throw statement.error(.aborted)
            }
            transactions.isUntouched = false
        }
        if statement.mayWrite { try checkWrite(by: statement) }
        if statement.makesDatabases
            || parts.concerns.contains(statement.hasEffects ? .effects : .reads) && !parts.ignore(statement)
        {
            try notifyParts(ofRun: statement)
        }
        connection.forgetTrip()
        if let transaction = statement.compilation.transaction { try stops.begin(statement, transaction) }
        if statement.compilation.attaches { ConnectionHandle.setOpening(connection) }
    }

    /// Calls the parts. A part's query may be stopped, which rolls back the transaction. The statement must not
    /// commit by itself then.
    private func notifyParts(ofRun statement: Statement) throws {
        let wasAutocommit = isAutocommit
        let concerned = statement.makesDatabases ? parts.all : parts.concernedByRuns
        for part in concerned { try part.willRun(statement, in: self) }
        if statement.changesRowsOnly { parts.noteIgnored(statement) }
        if !wasAutocommit, isAutocommit { throw statement.error(.aborted) }
    }

    private func checkWrite(by statement: Statement) throws {
        if transactions.readOnlyDepth > 0 { throw statement.error(.readOnly) }
        // A transaction that has released its lock can't rely on its former reads.
        if transactions.isReader { throw statement.error(.aborted) }
        // BEGIN IMMEDIATE by itself changes nothing.
        if statement.compilation.transaction == nil { transactions.mayHaveChanges = true }
    }

    /// Updates the state of the connection after a statement, and throws the statement's failure.
    @inline(__always)
    func didRun(_ statement: Statement, failure: DatabaseError?) throws {
        // A failure, even of a read, may have rolled the transaction back.
        if failure != nil || statement.hasEffects && !changesOnlyUnobservedRows(statement) {
            let undone = updateState(after: statement, isDone: failure == nil)
            if failure == nil, let refusal = undone ?? transactions.takeRefusal() { throw refusal }
        }
        if !connection.stops.isEmpty || failure != nil && connection.waitWasStopped {
            try stops.conclude(statement, failure)
        }
        if let failure { throw refusalOrFailure(failure) }
    }

    private func refusalOrFailure(_ failure: DatabaseError) -> any Error {
        if failure.resultCode == .SQLITE_FULL {
            configuration.tally?.noteFullDisk(
                Tally.FullDisk(commits: connection.commits, room: NamedFile.room(path).free))
        }
        return transactions.takeRefusal() ?? failure
    }

    /// Returns true if the statement changed rows inside a transaction that goes on, and no part is concerned.
    private func changesOnlyUnobservedRows(_ statement: Statement) -> Bool {
        statement.changesRowsOnly && !isAutocommit
            && (!parts.concerns.contains(.effects) || parts.ignore(statement)
                || !parts.concernedByRuns.contains { $0.isConcerned(by: statement) })
    }

    /// Updates the state of the connection. Returns the error by which a part has undone what the statement did.
    private func updateState(after statement: Statement, isDone: Bool) -> (any Error)? {
        connection.commitEnds()
        if statement.compilation.transaction != nil { stops.end() }
        if statement.compilation.attaches { ConnectionHandle.setOpening(nil) }
        connection.forgetTrip()
        if statement.compilation.changesSchema { statements.removeAll() }
        var refusal: (any Error)?
        let mayHaveUndone = !isDone || statement.compilation.transaction?.undoes == true
        if mayHaveUndone || statement.makesDatabases || parts.concerns.contains(.ends) {
            for part in parts.all {
                do { try part.didRun(statement, isDone: isDone, in: self) } catch { refusal = refusal ?? error }
            }
        }
        if isDone, let transaction = statement.compilation.transaction { transactions.updateSavepoints(transaction) }
        updateTransactionState()
        return refusal
    }
}
