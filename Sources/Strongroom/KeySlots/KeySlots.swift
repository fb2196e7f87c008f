import Foundation

/// The key slots of a database: the secrets that open it. A change costs derivations, and does not write pages.
///
///     let slots = try pool.keySlots()
///     try slots.add(.passphrase("open sesame"), NewKeySlot(label: "laptop"))
///
/// Each change replaces the slot file as a whole: even if the process is killed or a step fails, either the secrets
/// from before it open the database, or those from after it.
public final class KeySlots: Sendable {
    /// The slot whose secret opened the database. Nil if the data key itself did.
    public let opened: KeySlot?

    private let files: SlotFiles
    private let salt: Salt
    private let secretKey: SecretBytes
    private let seenEpoch: Mutex<Int>

    init(_ files: SlotFiles, _ file: SlotFile, dataKey: SecretBytes, opened: KeySlot?) throws {
        guard try file.isAuthentic(with: dataKey) else { throw DatabaseError.forgedSlotFile }
        (self.files, salt, secretKey, self.opened) = (files, file.salt, dataKey, opened)
        seenEpoch = Mutex(file.epoch)
    }

    // MARK: - Looking

    /// The slots, oldest first.
    ///
    /// - throws: the errors of the slot file.
    public var slots: [KeySlot] {
        get throws { try present().slots }
    }

    /// A number that grows with each change of the slots. A slot file with a lower number is an older copy. To detect
    /// an older copy in another process, store the number, and give it as ``KeySlotOptions/leastEpoch``.
    ///
    /// - throws: the errors of the slot file; `SQLITE_AUTH` with the reason `olderSlotFile` if this object has seen a
    ///   greater number.
    public var epoch: Int {
        get throws { try present().epoch }
    }

    /// The data key with its salt, which opens the database without a slot, here and in the `sqlcipher` shell,
    /// until the data key is renewed.
    public var dataKey: DatabaseKey { DatabaseKey(source: KeySource(raw: secretKey, salt: salt)) }

    /// Returns the slot with an identifier, or with a label that no other slot has.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `missingKeySlot` if there is none.
    public func slot(named name: String) throws -> KeySlot {
        let file = try present()
        return file.slots[try file.index(of: name)]
    }

    /// Calls `body` with the data key, 32 bytes, and its salt, 16 bytes. The pointer is valid until `body` returns.
    public func withDataKeyAndSalt<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        let bytes = try SecretBytes(count: secretKey.count + Salt.count) { out in
            secretKey.withBytes { out.copyBytes(from: $0) }
            UnsafeMutableRawBufferPointer(rebasing: out[secretKey.count...]).copyBytes(from: salt.bytes)
        }
        return try bytes.withBytes(body)
    }

    /// Returns the slots that none of these keys opens: a rotation with these keys would drop them.
    ///
    /// - throws: `SQLITE_NOTADB` for a key that opens no slot.
    public func slots(notOpenedBy keys: [DatabaseKey]) throws -> [KeySlot] {
        let file = try present()
        let opened = try file.entries(openedBy: keys, KeySlotDeriver()).map(\.slot)
        return file.slots.filter { !opened.contains($0) }
    }

    /// Returns the text of the slot file, as a backup. It opens the database with the current secrets of the slots.
    public func backup() throws -> [UInt8] { try present().text }

    private func present() throws -> SlotFile {
        guard let file = try files.read(for: salt) else {
            guard files.exists(.current) else { throw DatabaseError.missingSlotFile(files.path(.current)) }
            throw DatabaseError(
                .SQLITE_NOTADB, .foreignSlotFile, "the data key was renewed meanwhile",
                advice: "open the database again")
        }
        guard try file.isAuthentic(with: secretKey) else { throw DatabaseError.forgedSlotFile }
        try seenEpoch.withLock { seenEpoch in
            guard file.epoch >= seenEpoch else { throw DatabaseError.olderSlotFile(file.epoch, seenEpoch) }
            seenEpoch = file.epoch
        }
        return file
    }

    // MARK: - Changing

    /// Adds a slot, after its secret has unlocked it.
    ///
    /// The secret is first tried on each slot, at the cost of a derivation for each: a secret with two slots would
    /// still open the database after one of them was removed.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `existingKeySlot` for a secret that has a slot, `emptyKey` for an
    ///   empty secret, and `unfitKeySlot` for a raw key, for an invalid label or kind, and if there are 32 slots;
    ///   `weakKeyCost` or `excessiveKeyCost` for a derivation out of bounds. `SQLITE_BUSY` while the data key is being
    ///   renewed, and if another process changes slots for longer than five seconds.
    @discardableResult
    public func add(_ key: DatabaseKey, _ slot: NewKeySlot) throws -> KeySlot {
        try slot.validateForGivenSecret()
        return try key.withSlotSecret { secret in
            let file = try present()
            try file.requireFit(with: slot)
            if let own = try file.slot(openedBy: secret, KeySlotDeriver()) { throw DatabaseError.existing(own) }
            return try change { try $0.adding(slot, secret) }.slots.last!
        }
    }

    /// Adds a slot for a new recovery code, which a person keeps on paper, and returns the code.
    ///
    /// - throws: the errors of ``add(_:_:)`` for the label and for 32 slots, and `SQLITE_BUSY`.
    public func addRecoveryCode(label: String = "recovery code") throws -> RecoveryCode {
        try addingRecoveryCode(label: label).code
    }

    /// Adds a slot for a new recovery code, and returns both. Another process may have added further slots since.
    package func addingRecoveryCode(label: String) throws -> (code: RecoveryCode, slot: KeySlot) {
        let code = try RecoveryCode()
        let slot = NewKeySlot(label: label, kind: .recoveryCode, derivation: .hkdf)
        return (code, try change { try $0.adding(slot, code.secret) }.slots.last!)
    }

    /// Replaces the secret of a slot in one step: the former secret opens the database until the new one does. The new
    /// secret is first tried on each slot, as ``add(_:_:)`` does.
    ///
    /// - parameters:
    ///   - name: the identifier of the slot, or its label if no other slot has it.
    ///   - key: the new secret.
    ///   - kind: the kind of the secret. Default: that of the former one, or a passphrase after a recovery code.
    ///   - derivation: the derivation. Default: the former one, or the standard one after a recovery code.
    /// - throws: `SQLITE_MISUSE` with the reason `missingKeySlot` for a name without a slot; the errors of
    ///   ``add(_:_:)`` for the secret, the kind and the derivation, with `existingKeySlot` for a secret that another
    ///   slot has.
    @discardableResult
    public func change(
        _ name: String, to key: DatabaseKey, kind: KeySlot.Kind? = nil, derivation: KeyDerivation? = nil
    ) throws -> KeySlot {
        try key.withSlotSecret { secret in
            let before = try present(), id = before.slots[try before.index(of: name)].id
            let renewed = { (slot: KeySlot) in
                let own = slot.kind == .recoveryCode ? NewKeySlot(label: slot.label) : NewKeySlot(of: slot)
                let new = NewKeySlot(
                    label: slot.label, kind: kind ?? own.kind, derivation: derivation ?? own.derivation)
                try new.validateForGivenSecret()
                return new
            }
            _ = try renewed(before.slots[before.index(of: id)])
            try requireFree(secret, for: id, in: before)
            let file = try change { try $0.changing(id, to: renewed, secret) }
            return file.slots[try file.index(of: id)]
        }
    }

    /// Throws the error of ``change(_:to:kind:derivation:)`` for a secret that another slot has.
    package func requireFree(_ key: DatabaseKey, for id: String) throws {
        try key.withSlotSecret { try requireFree($0, for: id, in: present()) }
    }

    private func requireFree(_ secret: SecretBytes, for id: String, in file: SlotFile) throws {
        if let other = try file.slot(openedBy: secret, except: id, KeySlotDeriver()) {
            throw DatabaseError.existing(other)
        }
    }

    /// Removes a slot. Its secret still opens older copies of the slot file, and with them the database, until the data
    /// key is renewed: see ``KeySlotRotation``.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `lastKeySlot` for the last slot, and `missingKeySlot` for a name
    ///   without a slot; `SQLITE_BUSY` as ``add(_:_:)`` does.
    public func remove(_ name: String) throws {
        _ = try change { try $0.removing(name) }
    }

    private func change(_ body: (SlotFileDraft) throws -> SlotFileDraft) throws -> SlotFile {
        try files.changingSlots { change in
            let draft = SlotFileDraft(of: try present(), dataKey: secretKey, deriver: KeySlotDeriver())
            let file = try body(draft).publish(change, as: .current)
            seenEpoch.withLock { $0 = max($0, file.epoch) }
            return file
        }
    }
}

extension DatabaseKey {
    /// Calls `body` with the bytes of a secret for a slot.
    ///
    /// - throws: `SQLITE_MISUSE` for a raw key, and for an empty secret.
    func withSlotSecret<R>(_ body: (SecretBytes) throws -> R) throws -> R {
        try source.withSecret { secret in
            guard source.form == .passphrase, try KeySource.specifiedKey(secret) == nil else {
                throw DatabaseError.rawKeyInSlot
            }
            guard secret.count > 0 else { throw DatabaseError.emptyKey }
            return try body(secret)
        }
    }
}

extension DatabaseError {
    static func missingSlotFile(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_CANTOPEN, refusing: "the slot file \(path) is gone", advice: "restore it from a backup",
            reason: .unfitSlotFile)
    }

    static func existing(_ slot: KeySlot) -> DatabaseError {
        DatabaseError(
            refusing: "slot \(slot.id) (\(slot.label)) has this secret",
            advice: "give another secret, or remove that slot first", reason: .existingKeySlot)
    }

    static let rawKeyInSlot = DatabaseError(
        refusing: "a raw key can't be the secret of a slot", advice: "give a passphrase, or the bytes of a file as one",
        reason: .unfitKeySlot)

    static func foreignSlotFile(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .foreignSlotFile,
            "\(path) belongs to another database, or to this one before its data key was renewed",
            advice: """
                restore the slot file that was beside the database; a backup from before the database had slots opens \
                with the key that it had then
                """)
    }

    static func olderSlotFile(_ epoch: Int, _ least: Int) -> DatabaseError {
        DatabaseError(
            .SQLITE_AUTH, .olderSlotFile,
            "the slot file is an older copy: its epoch is \(epoch), and \(least) was seen",
            advice: "restore the latest slot file")
    }

    static func noKeySlots(_ path: String) -> DatabaseError {
        DatabaseError(
            refusing: "\(path) has no key slots", advice: "give it slots with rotateKey(.creating(_:secret:))",
            reason: .unfitKeySlots)
    }
}
