import Foundation

/// The content of a slot file: the data key of a database, wrapped once for each secret that opens it.
/// <doc:SlotFileFormat> describes its text.
struct SlotFile: Hashable {
    static let largestSlotCount = 32

    /// The salt of the database that the data key opens.
    let salt: Salt
    /// A number that grows by one with each change. The first one is the time in microseconds.
    var epoch: Int
    var entries: [KeySlot.Entry]
    /// The authentication code of the content above.
    private(set) var code: [UInt8]

    static let largestEpoch = 1 << 53

    init(salt: Salt, epoch: Int, entries: [KeySlot.Entry], code: [UInt8]) {
        (self.salt, self.epoch, self.entries, self.code) = (salt, epoch, entries, code)
    }

    /// Creates a file that a data key authenticates.
    init(salt: Salt, epoch: Int, entries: [KeySlot.Entry], dataKey: SecretBytes) throws {
        self.init(salt: salt, epoch: epoch, entries: entries, code: [])
        try requireFit()
        code = try authentication(with: dataKey)
    }

    var slots: [KeySlot] { entries.map(\.slot) }

    // MARK: Authentication

    private func authentication(with dataKey: SecretBytes) throws -> [UInt8] {
        let key = try dataKey.subkey("Strongroom keys 1 authentication"), text = authenticatedText
        var code = [UInt8](repeating: 0, count: 32)
        let result = key.withBytes {
            Provider.hmac(.sha256, key: $0, text, into: &code)
        }
        guard result == 0 else { throw DatabaseError.noHMAC }
        return code
    }

    /// Returns true if the file was written with this data key.
    func isAuthentic(with dataKey: SecretBytes) throws -> Bool {
        let expected = try authentication(with: dataKey)
        return expected.count == code.count && SecretMemory.isEqual(expected, code, count: code.count)
    }

    // MARK: Unlocking

    /// Returns the data key and the slot that `secret` opens.
    ///
    /// - parameters:
    ///   - preferred: the identifier or the label of the slot to try first.
    ///   - excepted: the identifier of a slot that is not tried.
    /// - throws: `SQLITE_NOTADB` with the reason `wrongKey` or `mistypedRecoveryCode` if no slot opens,
    ///   `forgedSlotFile` if one does and the file was not written with that data key, `unsupportedDerivation` if a
    ///   slot could not be tried and no other one opens.
    func unlock(
        _ secret: SecretBytes, preferred: String?, except excepted: String? = nil, _ deriver: KeySlotDeriver
    ) throws -> (dataKey: SecretBytes, slot: KeySlot) {
        guard secret.count > 0 else { throw DatabaseError.emptyKey }
        let code = try secret.withBytes { try RecoveryCode(typed: $0) }
        var untried: DatabaseError?
        for entry in order(preferred: preferred, isRecovering: code != nil) where entry.slot.id != excepted {
            let isCode = entry.slot.kind == .recoveryCode
            do {
                guard let dataKey = try entry.unlock(isCode ? code!.secret : secret, deriver) else { continue }
                guard try isAuthentic(with: dataKey) else { throw DatabaseError.forgedSlotFile }
                return (dataKey, entry.slot)
            } catch let error as DatabaseError where error.reason == .unsupportedDerivation {
                untried = untried ?? error
            }
        }
        throw untried ?? refusal(of: secret, isCode: code != nil)
    }

    /// Returns the slot that a secret opens. Nil if none does, of those that can be tried.
    ///
    /// - parameter excepted: the identifier of a slot that is not tried.
    func slot(
        openedBy secret: SecretBytes, except excepted: String? = nil, _ deriver: KeySlotDeriver
    ) throws -> KeySlot? {
        do {
            return try unlock(secret, preferred: nil, except: excepted, deriver).slot
        } catch let error as DatabaseError
            where [.wrongKey, .mistypedRecoveryCode, .unsupportedDerivation].contains(error.reason)
        {
            return nil
        }
    }

    /// Returns the error for a secret that opens no slot.
    ///
    /// - parameter isCode: true if it is a recovery code, and its check fits.
    private func refusal(of secret: SecretBytes, isCode: Bool) -> DatabaseError {
        if isCode {
            return DatabaseError(
                .SQLITE_NOTADB, .wrongKey, "no key slot opens with this recovery code",
                advice: "it was typed as it was made: use the code of this database, if its slot was not removed")
        }
        if entries.contains(where: { $0.slot.kind == .recoveryCode }), secret.withBytes(RecoveryCode.resembles) {
            return DatabaseError(
                .SQLITE_NOTADB, .mistypedRecoveryCode,
                "no key slot opens with this key, which resembles a recovery code",
                advice: "compare it with what was written down")
        }
        return DatabaseError(.SQLITE_NOTADB, .wrongKey, "no key slot opens with this key")
    }

    /// Returns the slots that these keys open, each with its secret.
    func entries(
        openedBy keys: [DatabaseKey], _ deriver: KeySlotDeriver
    ) throws -> [(slot: KeySlot, secret: SecretBytes)] {
        var opened: [(slot: KeySlot, secret: SecretBytes)] = []
        for key in keys {
            try key.withSlotSecret { secret in
                let code = try secret.withBytes { try RecoveryCode(typed: $0) }
                let slot = try unlock(secret, preferred: nil, deriver).slot
                guard !opened.contains(where: { $0.slot == slot }) else { return }
                opened.append((slot, slot.kind == .recoveryCode ? code!.secret : secret))
            }
        }
        return opened
    }

    /// Returns the slots in the order in which they are tried, the preferred one first. A recovery code is tried on the
    /// slots of codes before others; other secrets are not tried on them.
    private func order(preferred: String?, isRecovering: Bool) -> [KeySlot.Entry] {
        let codes = isRecovering ? entries.filter { $0.slot.kind == .recoveryCode } : []
        let all = codes + entries.filter { $0.slot.kind != .recoveryCode }
        let isPreferred = { (entry: KeySlot.Entry) in entry.slot.id == preferred || entry.slot.label == preferred }
        return all.filter(isPreferred) + all.filter { !isPreferred($0) }
    }

    // MARK: Limits

    /// Throws if the file is beyond the limits with a new slot. Costs nothing.
    func requireFit(with new: NewKeySlot) throws {
        let slot = KeySlot(id: "", label: new.label, created: Date(), kind: new.kind, derivation: new.derivation)
        let entry = KeySlot.Entry(slot: slot, salt: [], wrapped: [])
        try SlotFile(salt: salt, epoch: epoch, entries: entries + [entry], code: []).requireFit()
    }

    /// Throws if the file is beyond the limits of slot files.
    func requireFit() throws {
        guard !entries.isEmpty else { throw DatabaseError.lastKeySlot }
        guard entries.count <= SlotFile.largestSlotCount else {
            throw DatabaseError(
                refusing: "a slot file can have at most \(SlotFile.largestSlotCount) slots", advice: "remove one first",
                reason: .unfitKeySlot)
        }
        for entry in entries { try entry.slot.derivation.validate() }
        guard entries.reduce(0, { $0 + $1.slot.derivation.work }) <= KeyDerivation.mostWork else {
            throw DatabaseError(refusing: "all key slots together cost too much", reason: .excessiveKeyCost)
        }
    }

    /// Returns an identifier that no slot has.
    func newID() throws -> String {
        while true {
            var bytes = [UInt8](repeating: 0, count: 4)
            try bytes.withUnsafeMutableBytes { try fillWithRandomBytes($0) }
            let id = hexadecimal(bytes)
            if !entries.contains(where: { $0.slot.id == id }) { return id }
        }
    }

    /// Returns the index of the slot with an identifier, or with a label that no other slot has.
    func index(of name: String) throws -> Int {
        let named = entries.indices.filter { entries[$0].slot.id == name }
        let labelled = named.isEmpty ? entries.indices.filter { entries[$0].slot.label == name } : named
        guard labelled.count == 1 else {
            let offered = (labelled.isEmpty ? Array(entries.indices) : labelled).map { entries[$0].slot.id }
            throw DatabaseError(
                refusing: "\(labelled.isEmpty ? "no key slot has" : "several key slots have") the label \(name)",
                advice: "name one of \(offered.joined(separator: ", "))", reason: .missingKeySlot)
        }
        return labelled[0]
    }
}

// MARK: - Keys

extension SecretBytes {
    /// Returns a key for one purpose: the HMAC-SHA-256 of its name.
    func subkey(_ purpose: String) throws -> SecretBytes {
        let name = Array(purpose.utf8)
        return try SecretBytes(count: 32) { out in
            let result = withBytes {
                Provider.hmac(.sha256, key: $0, name, into: out.bindMemory(to: UInt8.self).baseAddress)
            }
            guard result == 0 else { throw DatabaseError.noHMAC }
        }
    }

    /// Returns `key`, wrapped with this key.
    func wrap(_ key: SecretBytes) throws -> [UInt8] {
        var wrapped = [UInt8](repeating: 0, count: Provider.wrappedKeySize)
        let result = withBytes { own in
            key.withBytes { key in
                Provider.wrap(key, with: own, into: &wrapped)
            }
        }
        guard result == 0 else {
            throw DatabaseError(.SQLITE_ERROR, refusing: "the cryptographic provider refuses AES key wrap")
        }
        return wrapped
    }

    /// Returns the key that was wrapped. Nil if it was wrapped with another key.
    func unwrap(_ wrapped: [UInt8]) throws -> SecretBytes? {
        var result: CInt = 0
        let key = try SecretBytes(count: KeySource.rawCount) { out in
            withBytes { own in
                result = Provider.unwrap(wrapped, with: own, into: out)
            }
        }
        return result == 0 ? key : nil
    }
}

// MARK: - Errors

extension DatabaseError {
    static let noHMAC = DatabaseError(.SQLITE_ERROR, refusing: "the cryptographic provider refuses HMAC-SHA-256")

    static let forgedSlotFile = DatabaseError(
        .SQLITE_AUTH, .forgedSlotFile, "the slot file was changed without the data key",
        advice: "restore it from a backup, or open the database with its exported data key")

    static let lastKeySlot = DatabaseError(
        refusing: "without a key slot, nothing opens the database", advice: "add another slot first",
        reason: .lastKeySlot)
}
