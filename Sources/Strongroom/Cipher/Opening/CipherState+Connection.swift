// The work of the cipher around statements and transactions.

extension CipherState: ConnectionPart {
    var concerns: PartConcerns { isCreationPending ? .ends : [] }

    func willCompile(_ text: SQLText, in db: Database) throws {
        if phase.isPending { try db.keySetup.settleKey(before: text) }
        keyInSQL = nil
        if let schemaName = text.copiedSchema { try db.formatControl.requireReadableCopy(of: schemaName) }
        if text.secret?.attaches == true { try db.untraced { try db.pragmaPolicy.requireTemporaryDataInMemory() } }
    }

    func didCompile(_ compilation: StatementCompilation, in db: Database) throws {
        if compilation.carriesKey { try db.keySetup.useKeyInSQL() }
    }

    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        db.keyProof.explanationOfChangedKey(code)
    }

    func willReadFile(in db: Database) throws {
        try db.keySetup.settlePendingKey()
    }

    func willRun(_ statement: Statement, in db: Database) throws {
        if statement.makesDatabases { try db.formatControl.holdFormat(for: statement) }
    }

    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws {
        let isRollback = statement.compilation.transaction?.undoes == true
        if isRollback || !isDone, isKeyed || db.latestSchemaName != nil {
            db.rereadFirstPages(afterRollback: isRollback && isDone)
        }
        if statement.makesDatabases, let refusal = db.formatControl.releaseFormat(after: statement) { throw refusal }
    }

    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database) {
        if isCommitted, isCreationPending { db.keySetup.endCreation() }
    }

    func willClose(_ db: Database) {
        db.keySetup.endCreation()
        openGate()
    }

    /// Opens the gate, so that SQLite can close the file.
    func willFree() {
        openGate()
    }

}
