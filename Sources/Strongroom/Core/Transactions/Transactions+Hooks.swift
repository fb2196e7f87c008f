// The hooks with which SQLite reports commits and rollbacks.

extension Transactions {
    func install(on connection: SQLiteConnection) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        hasHooks = true
        RawConnection(connection).setTransactionHooks(
            willCommit: transactionWillCommit, didRollBack: transactionDidRollBack, context)
    }

    /// Removes the hooks for transactions of the library's own.
    func uninstall(from connection: SQLiteConnection) {
        hasHooks = false
        RawConnection(connection).setTransactionHooks(willCommit: nil, didRollBack: nil, nil)
    }
}

private func transactionWillCommit(_ context: UnsafeMutableRawPointer?) -> CInt {
    Unmanaged<Transactions>.fromOpaque(context!).takeUnretainedValue().willCommit()
}

private func transactionDidRollBack(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<Transactions>.fromOpaque(context!).takeUnretainedValue().didRollBack()
}
