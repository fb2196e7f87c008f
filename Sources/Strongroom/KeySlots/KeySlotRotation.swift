/// A change of the data key of a database with key slots, or to or from key slots. Every page is encrypted anew.
public enum KeySlotRotation: Sendable {
    /// A new data key, for the slots that these keys open. Whoever has a former key file, or the former data key, can't
    /// open what is written from now on.
    ///
    /// Slots whose secrets aren't given can't be kept: they are dropped if `droppingOthers`, and refused otherwise.
    case keeping([DatabaseKey], droppingOthers: Bool = false)
    /// A database without slots gets one, for this secret, and a data key.
    case creating(NewKeySlot, secret: DatabaseKey)
    /// A database with slots gets a key like any other, and loses its slots.
    case removing(newKey: DatabaseKey)
}

/// What becomes of the key file when a key changes.
enum KeyFileChange {
    /// There is none.
    case none
    /// A key file for the new data key takes the place of `former`.
    case replacing(former: KeyFile?, entries: (KeyFileDraft) throws -> KeyFileDraft)
    case removing
}
