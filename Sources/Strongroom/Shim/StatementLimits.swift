import CStrongroom

/// The limits of time and memory of a connection's statements: `strongroom_stops.h`.
struct StatementLimits {
    private let pointer: UnsafeMutablePointer<strongroom_connection>

    init(of connection: ConnectionHandle) {
        pointer = connection.pointer
    }

    /// The limits that have stopped a statement.
    struct Overrun: OptionSet {
        let rawValue: UInt32

        static let duration = Overrun(rawValue: UInt32(STRONGROOM_LATE))
        static let memory = Overrun(rawValue: UInt32(STRONGROOM_LARGE))
    }

    /// Sets the limits of the statements that follow: nanoseconds from now, and bytes beyond what SQLite has allocated
    /// in the process so far. Zero for none.
    func set(nanoseconds: UInt64, bytes: Int64) { strongroom_connection_limit(pointer, nanoseconds, bytes) }

    /// The limits that are exceeded now, or have stopped a statement.
    var overrun: Overrun { Overrun(rawValue: strongroom_connection_overrun(pointer)) }
}
