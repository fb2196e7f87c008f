import CSQLCipher

extension Database {
    /// The lock that the connection's transaction holds on a database.
    enum TransactionState {
        case none, read, write
    }

    /// Returns the state for a schema. Nil for the strongest state of all schemas.
    /// <https://www.sqlite.org/c3ref/txn_state.html>
    func transactionState(of schemaName: String? = nil) throws -> TransactionState {
        switch try RawConnection(openConnection).transactionState(of: schemaName) {
        case SQLITE_TXN_WRITE: .write
        case SQLITE_TXN_READ: .read
        default: .none
        }
    }

    /// True if each statement is a transaction of its own. <https://www.sqlite.org/c3ref/get_autocommit.html>
    var isAutocommit: Bool {
        sqliteConnection == nil || raw.isAutocommit
    }

    /// Begins a write, which the pending interruption stops, so that SQLite rolls the transaction back.
    func interruptWrite() {
        raw.beginWrite()
    }
}
