/// A reader of a pool: a name, and the connection when the reader has been used.
///
/// Sendable because it belongs to one access at a time, from ``ReaderPool/checkOut(_:)`` to ``ReaderPool/checkIn(_:)``.
final class Reader: @unchecked Sendable {
    let label: String

    struct State {
        /// Written under the pool's lock, by the access that has the reader.
        var connection: SerializedConnection?

        /// True if the connection is to be closed at the end of its access, and not used again.
        var isInvalidated = false

        /// The set-ups that the connection must have gone through. Written under the pool's lock.
        var requiredSetups: ConnectionSetups.Version = 0
    }

    // Unchecked exclusivity: the lock and the order of accesses replace Swift's check, which each read would pay
    // for.
    @exclusivity(unchecked) var state = State()

    var connection: SerializedConnection? { state.connection }

    init(label: String) {
        self.label = label
    }
}
