import Strongroom

/// The two keys of a rotation, and their names in messages.
struct RotationKeys: Sendable {
    let old: DatabaseKey
    let oldNoun: String
    private(set) var new: DatabaseKey?
    private(set) var newNoun = "passphrase"

    init(old: GivenSecret) throws {
        self.old = try old.key
        oldNoun = old.shortNoun
    }

    mutating func add(new: GivenSecret) throws {
        self.new = try new.key
        newNoun = new.shortNoun
    }
}
