import CSQLCipher

extension Database {
    /// The lock that the connection's transaction holds on a database.
    enum TransactionState {
        case none, read, write
    }

    /// Of the schema of that name; of all, the most, with nil. <https://www.sqlite.org/c3ref/txn_state.html>
    func transactionState(of schemaName: String? = nil) throws -> TransactionState {
        switch sqlite3_txn_state(try openConnection, schemaName) {
        case SQLITE_TXN_WRITE: .write
        case SQLITE_TXN_READ: .read
        default: .none
        }
    }

    /// True if each statement is a transaction of its own. <https://www.sqlite.org/c3ref/get_autocommit.html>
    var isAutocommit: Bool {
        sqliteConnection == nil || sqlite3_get_autocommit(sqliteConnection) != 0
    }

    /// Begins a write that meets the pending interruption, so that SQLite rolls the transaction back.
    func interruptWrite() {
        // A handle on a row is a statement that writes, and nothing has to be compiled for it.
        var row: OpaquePointer?
        let code = sqlite3_blob_open(sqliteConnection, "main", "sqlite_master", "sql", 1, 1, &row)
        if code == SQLITE_OK { sqlite3_blob_close(row) }
    }
}
