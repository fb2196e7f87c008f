import CStrongroom

// The access of threads to connections: `strongroom_access.h`.

extension ConnectionHandle {
    /// Gives the calling thread access. Returns the former owner, the argument for ``exit(_:)``.
    @inline(__always)
    func enter() -> UInt { strongroom_enter(pointer) }

    /// Finalizes a statement: now if the calling thread has access, otherwise at the next access or at closing. Any
    /// thread may call it.
    func release(_ statement: SQLiteStatement) { strongroom_statement_release(pointer, statement) }
}
