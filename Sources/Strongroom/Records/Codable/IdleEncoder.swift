/// The encoder of the former record of a type, which serves the next one.
///
/// Locked, because a program may copy a container and encode into both copies at the same time.
final class IdleEncoder: Sendable {
    private let encoder = Mutex<RecordEncoder?>(nil)

    deinit {
        encoder.withLock { $0?.forgetContainer() }
    }

    /// Returns the encoder, and leaves none. Nil if it is in use, or that of another type.
    func take(for type: any EncodableRecord.Type) -> RecordEncoder? {
        encoder.withLock { idle in
            guard let known = idle, ObjectIdentifier(known.record) == ObjectIdentifier(type) else { return nil }
            idle = nil
            known.keep()
            return known
        }
    }

    /// Leaves an encoder for the next record.
    func put(_ next: RecordEncoder) {
        encoder.withLock { idle in
            idle?.forgetContainer()
            idle = next
        }
    }
}
