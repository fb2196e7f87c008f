/// A rotation that renews, adds or removes the data key of a database with key slots. It re-encrypts every page.
public enum KeySlotRotation: Sendable {
    /// Renews the data key, and keeps the slots that these keys open. Former slot files and the former data key do not
    /// open the database any more.
    ///
    /// A slot can only be kept if its secret is given. Without `droppingOthers`, the rotation fails if there are other
    /// slots.
    case keeping([DatabaseKey], droppingOthers: Bool = false)
    /// Adds a data key to a database without slots, and one slot for this secret.
    case creating(NewKeySlot, secret: DatabaseKey)
    /// Removes the slots of a database, which gets a key of its own.
    case removing(newKey: DatabaseKey)
}

/// The change of the slot file that a rotation makes.
enum SlotFileChange {
    /// The database has no slot file.
    case none
    /// A slot file for the new data key replaces `former`.
    case replacing(former: SlotFile?, entries: (SlotFileDraft) throws -> SlotFileDraft)
    case removing
}
