/// A rotation of a database with key slots, or to or from key slots. It encrypts every page anew.
public enum KeySlotRotation: Sendable {
    /// Renews the data key, and keeps the slots that these keys open. Former key files and the former data key do not
    /// open the database any more.
    ///
    /// Slots can be kept only if their secrets are given. Without `droppingOthers`, the rotation fails if there are
    /// others.
    case keeping([DatabaseKey], droppingOthers: Bool = false)
    /// Gives a database without slots a data key, and one slot for this secret.
    case creating(NewKeySlot, secret: DatabaseKey)
    /// Gives a database with slots a key of its own, and removes the slots.
    case removing(newKey: DatabaseKey)
}

/// The change of the key file that a rotation makes.
enum KeyFileChange {
    /// The database has no key file.
    case none
    /// A key file for the new data key replaces `former`.
    case replacing(former: KeyFile?, entries: (KeyFileDraft) throws -> KeyFileDraft)
    case removing
}
