/// A pragma as SQLite's compiler understood it.
struct Pragma {
    /// In lowercase.
    let name: String
    /// The new value; nil where the pragma only asks.
    let value: String?
    /// The database that is named; nil stands for the main one.
    let schema: String?

    var isOfMain: Bool { schema == nil || schema == "main" }
}

/// The decision on a pragma.
enum PragmaVerdict {
    case run
    /// SQLCipher runs it while SQLite compiles it.
    case runAtOnce
    /// SQLite compiles a statement that does nothing.
    case ignore
    case refuse(DatabaseError)
}
