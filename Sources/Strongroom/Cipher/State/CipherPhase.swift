/// The phase of a connection's encryption, from the key to the first read and beyond.
///
/// A value that only decides. <doc:Layers> has its state table.
struct CipherPhase {
    /// The stage of the connection.
    enum Stage: Equatable {
        /// The set-up, in which pragmas can set the format. SQLCipher's defaults are held from the first key on.
        case settingUp(holdsDefaults: Bool)
        /// Opening has ended. The format can't change any more.
        case open
        /// A change of header is not committed: the file doesn't have the connection's header yet.
        case changingHeader
    }

    /// The requests of the set-up, which the next statement carries out.
    enum Request {
        case none
        /// A key was given, or its format, and the key is not derived yet: pragmas can still change how.
        case derivation
        /// The connection refuses all further work. A new key can replace the request.
        case refusal(DatabaseError)
    }

    private(set) var stage = Stage.settingUp(holdsDefaults: false)
    private(set) var request = Request.none

    /// True if the next statement that may read derives a key, or is refused.
    var isPending: Bool {
        if case .none = request { return false }
        return true
    }

    /// True if opening has ended.
    var isOpen: Bool {
        if case .settingUp = stage { return false }
        return true
    }

    // MARK: - Requests

    /// A key was given. It replaces a refusal.
    mutating func keyWasGiven() {
        request = .derivation
    }

    /// The format was given. A refusal stays.
    mutating func formatWasGiven() {
        if case .none = request { request = .derivation }
    }

    /// Refuses all further work, even if the program ignores the error.
    mutating func refuse(with error: DatabaseError) {
        request = .refusal(error)
    }

    /// Begins to derive the key. Throws the refusal.
    mutating func beginDerivation() throws {
        if case .refusal(let error) = request { throw error }
        request = .none
    }

    /// The key was not derived. The connection must not go on with the provisional one: the next statement tries again.
    mutating func derivationFailed() {
        formatWasGiven()
    }

    // MARK: - The set-up

    /// True during the set-up, as long as nothing holds SQLCipher's defaults.
    var lacksDefaults: Bool { stage == .settingUp(holdsDefaults: false) }

    /// SQLCipher's defaults are held until the set-up ends.
    mutating func defaultsWereHeld() {
        if lacksDefaults { stage = .settingUp(holdsDefaults: true) }
    }

    /// Ends the set-up. Returns true if SQLCipher's defaults must be released.
    mutating func endSetUp() -> Bool {
        let mustRelease = abandonSetUp()
        if !isOpen { stage = .open }
        return mustRelease
    }

    /// Ends a set-up that has failed. Returns true if SQLCipher's defaults must be released.
    mutating func abandonSetUp() -> Bool {
        guard stage == .settingUp(holdsDefaults: true) else { return false }
        stage = .settingUp(holdsDefaults: false)
        return true
    }

    // MARK: - The header

    mutating func beginHeaderChange() {
        if stage == .open { stage = .changingHeader }
    }

    mutating func endHeaderChange() {
        if stage == .changingHeader { stage = .open }
    }
}
