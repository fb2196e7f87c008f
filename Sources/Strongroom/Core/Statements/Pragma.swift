/// A pragma as SQLite's compiler reports it.
struct Pragma {
    /// The name in lowercase.
    let name: String
    /// The new value. Nil for a pragma that returns one.
    let value: String?
    /// The name of the database. Nil for the main one.
    let schema: String?

    var isOfMain: Bool { schema == nil || schema == "main" }
}

/// The decision on a pragma.
enum PragmaVerdict {
    case run
    /// SQLCipher runs the pragma while SQLite compiles it.
    case runAtOnce
    /// SQLite compiles a statement without effect.
    case ignore
    case refuse(DatabaseError)
}
