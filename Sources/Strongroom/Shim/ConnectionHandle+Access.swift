import CStrongroom

// The access of threads to connections: `strongroom_access.h`.

extension ConnectionHandle {
    /// Gives the calling thread access. Returns the former owner, the argument for ``exit(_:)``.
    @inline(__always)
    func enter() -> UInt { strongroom_enter(pointer) }

    /// The number of accesses so far. Any thread may read it.
    var accessCount: UInt64 { strongroom_accesses(pointer) }

    /// True while a thread has access. Any thread may read it.
    var isAccessed: Bool { strongroom_is_accessed(pointer) }

    /// Finalizes a statement: now if the calling thread has access, otherwise at the next access or at closing. Any
    /// thread may call it.
    func release(_ statement: SQLiteStatement) { strongroom_statement_release(pointer, statement) }
}
