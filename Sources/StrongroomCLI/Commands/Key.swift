import ArgumentParser
import Foundation
import Strongroom

struct Key: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "List and change the key slots of a database: the secrets that open it.",
        discussion: help(
            """
            list prints the slots, without a key. add adds a slot for a new secret, or with --recovery-code for a code \
            that is printed once. passwd gives the slot that the passphrase opens, or SLOT, a new passphrase; it \
            writes no page. remove removes SLOT, an identifier or a label. It refuses the last slot and the one whose \
            secret was given.

            export writes the data key and its salt, 96 hexadecimal digits, to a new file or to standard output: with \
            it, --raw-key-file and the sqlcipher shell open the database without a slot. backup writes the key file to \
            a new file, and restore puts one back. Until rotate --data-key, a secret that was removed opens older \
            copies of the key file, and with them the database.

            After a failure, either every change was made or none was.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull]))

    static let examples = [
        (line: "strongroom key list notes.db", what: "lists the slots"),
        (line: "strongroom key add notes.db --label laptop", what: "asks for a passphrase, and for the new one twice"),
        (line: "strongroom key add notes.db --recovery-code", what: "prints a code to write down"),
        (line: "strongroom key passwd notes.db", what: "changes the passphrase, whatever the size of the database"),
        (line: "strongroom key remove notes.db laptop", what: "removes a slot"),
        (line: "strongroom key backup notes.db notes.keys", what: "copies the key file"),
    ]

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, add, remove, passwd, export, backup, restore

        fileprivate var takesName: Bool { self != .list && self != .add }
        fileprivate var needsName: Bool { [.remove, .backup, .restore].contains(self) }
        fileprivate var changesSlots: Bool { [.add, .remove, .passwd].contains(self) }
        fileprivate var takesNewSecret: Bool { self == .add || self == .passwd }
    }

    @Argument(help: "list, add, remove, passwd, export, backup or restore.")
    var action: Action

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp(
            "The slot, for remove and passwd; the file that export and backup make, or that restore reads.",
            valueName: "name"))
    var name: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "New key options") var newPassphrase: NewPassphraseOptions
    @OptionGroup(title: "Slot options") var slot: SlotOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "With add, make a code that a person can write down and type.")
    var recoveryCode = false

    @Flag(help: "With restore, replace the present key file.")
    var force = false

    var database: String? { file }

    func validate() throws {
        guard action.takesName || name == nil else {
            throw ValidationError("key \(action.rawValue) takes one argument.")
        }
        guard !action.needsName || name != nil else {
            throw ValidationError("key \(action.rawValue) takes two arguments.")
        }
        guard action == .add || !recoveryCode else { throw ValidationError("--recovery-code goes with key add.") }
        guard action == .restore || !force else { throw ValidationError("--force goes with key restore.") }
        guard action.takesNewSecret && !recoveryCode || !newPassphrase.isGiven else {
            throw ValidationError("No new passphrase goes with key \(action.rawValue).")
        }
        guard action.takesNewSecret || !slot.isGiven else {
            throw ValidationError("key \(action.rawValue) makes no slot.")
        }
        guard action == .add || slot.label == nil else { throw ValidationError("--label goes with key add.") }
        let sources = [try? passphrase.source, try? newPassphrase.source]
        guard sources.contains(where: { $0?.isStandardInput != true }) else {
            throw ValidationError("Standard input holds one key: take the other from elsewhere.")
        }
    }

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        guard target.inspection.hasKeyFile || action == .restore else {
            throw Failure(reason: .unfitKeySlots, file: file)!
        }
        switch action {
        case .list: try list(target)
        case .add: try add(target)
        case .remove: try remove(target)
        case .passwd: try change(target)
        case .export: try export(target)
        case .backup: try backup(target)
        case .restore: try restore(target)
        }
    }

    func done(_ members: [(String, JSON)], _ text: String) throws {
        try output.done(Self.self, file, [("action", .text(action.rawValue))] + members, text: "\(file): \(text)")
    }
}

// MARK: - Slots

extension Key {
    /// Returns the slots, opened with the passphrase.
    private func slots(_ target: Target) throws -> KeySlots {
        try passphrase.unlocking(file) { secret, _ in
            // Opening for writing ends a killed renewal of the data key. Slots can't be changed before that.
            if action.changesSlots, target.inspection.isRotationPending { try target.writing(secret) { _ in } }
            return try target.reading(secret) { try $0.keySlots() }
        }
    }

    private func list(_ target: Target) throws {
        let found: [KeySlot]
        if passphrase.isGiven {
            let slots = try slots(target)
            found = try attributing(to: file) { try slots.slots }
        } else {
            found = target.inspection.keySlots
            // Throws what is wrong with the key file.
            if found.isEmpty { _ = try attributing(to: file) { try DatabaseFile.keySlots(path: target.place.path) } }
        }
        guard !output.json else { return try done([("slots", .list(found.map(\.json)))], "") }
        try Console.output(found.map(\.line).joined(separator: "\n"))
    }

    private func add(_ target: Target) throws {
        let slots = try slots(target)
        if recoveryCode {
            let code = try attributing(to: file) { try slots.addRecoveryCode(label: slot.recoveryLabel()) }
            let added = try attributing(to: file) { try slots.slots.last! }
            do {
                return try show(code, added)
            } catch {
                throw withdrawing(added, slots, error)
            }
        }
        let secret = try newPassphrase.new(for: file), new = try slot.slot(newPassphrase.source, secret, of: file)
        let added = try attributing(to: file) { try slots.add(secret.key, new) }
        try done([("slot", added.json)], "slot \(added.id) (\(added.label)) was added, and opened.")
    }

    /// Prints the code to standard output, in pieces: it never becomes a `String`, which can't be wiped.
    private func show(_ code: RecoveryCode, _ slot: KeySlot) throws {
        if output.json {
            let members: [(String, JSON)] = [("action", .text(action.rawValue)), ("slot", slot.json)]
            let head = JSON.object(OutputOptions.head(Self.self, file, .done) + members).line.dropLast()
            try Console.write(head + ",\"recoveryCode\":\"", to: STDOUT_FILENO)
        }
        try code.withText { try Console.write($0, to: STDOUT_FILENO) }
        try Console.write(output.json ? "\"}\n" : "\n", to: STDOUT_FILENO)
        guard !output.quiet, !output.json else { return }
        Console.message(
            """
            \(file): slot \(slot.id) (\(slot.label)) was added. Write the code down: it is not shown again.
            """)
    }

    /// Removes the slot of a code that was not printed, and returns the failure.
    private func withdrawing(_ slot: KeySlot, _ slots: KeySlots, _ error: any Error) -> Failure {
        let status = (error as? Failure)?.status ?? .other
        guard (try? slots.remove(slot.id)) != nil else {
            return Failure(
                status, file: file, "the code cannot be printed; its slot \(slot.id) is there",
                remedy: "Remove it with: strongroom key remove")
        }
        return Failure(
            status, file: file, "the code cannot be printed; its slot was removed again",
            remedy: "Check standard output, then run this again")
    }

    private func remove(_ target: Target) throws {
        let slots = try slots(target)
        let removed = try attributing(to: file) {
            let removed = try slots.slot(named: name!)
            guard removed.id != slots.opened?.id else {
                throw Failure(
                    .other, file: file,
                    "this passphrase is the one of slot \(removed.id); nothing was changed",
                    remedy: "Give the secret of another slot")
            }
            try slots.remove(removed.id)
            return removed
        }
        try done(
            [("slot", removed.json)],
            """
            slot \(removed.id) (\(removed.label)) was removed. Its secret opens older copies of the key file, and with \
            them the database, until: strongroom rotate --data-key
            """)
    }

    private func change(_ target: Target) throws {
        let slots = try slots(target)
        guard let name = name ?? slots.opened?.id else {
            throw Failure(
                .usage, file: file, "the data key was given, which is in no slot; nothing was changed",
                remedy: "Name the slot")
        }
        let changed = try attributing(to: file) { try slots.slot(named: name) }
        let secret = try newPassphrase.new(for: file), kind = try newPassphrase.source.slotKind(of: secret)
        let slot = try attributing(to: file) {
            try slots.change(changed.id, to: secret.key, kind: kind, derivation: self.slot.given)
        }
        try done([("slot", slot.json)], "slot \(slot.id) (\(slot.label)) has the new passphrase; no page was written.")
    }
}

// MARK: - Files

extension Key {
    private func export(_ target: Target) throws {
        let slots = try slots(target)
        let digits = try slots.withDataKeyAndSalt { Secret(digitsOf: $0) }
        guard let name else {
            return try digits.show(Self.self, file, [("action", .text(action.rawValue))], json: output.json)
        }
        try digits.write(toNew: name)
        try done(
            [("key_file", .text(name))],
            """
            \(name) has the data key. It opens the database without a slot, until: strongroom rotate --data-key
            """)
    }

    private func backup(_ target: Target) throws {
        let slots = try slots(target)
        let text = try attributing(to: file) { try slots.backup() }
        try text.withUnsafeBytes { try Secret.write($0, toNew: name!) }
        try done(
            [("backup", .text(name!))],
            """
            \(name!) has the key file. The secrets of its slots open the database with it.
            """)
    }

    private func restore(_ target: Target) throws {
        let backup = try Place(name!)
        guard force || !target.inspection.hasKeyFile else {
            throw Failure(
                .other, file: file, "it has a key file already; nothing was changed",
                remedy: "Replace it with --force")
        }
        let slots = try passphrase.unlocking(file) { secret, _ in
            try attributing(to: file, opening: secret) {
                try KeySlots.restore(
                    backup.path, path: target.place.path, encryption: target.encryption(secret.key), replacing: force)
            }
        }
        let found = try attributing(to: file) { try slots.slots }
        let count = counted(found.count, "slot")
        try done([("slots", .list(found.map(\.json)))], "its key file was restored, with \(count).")
    }
}

extension KeySlot {
    var json: JSON {
        .object([
            ("id", .text(id)), ("label", .text(label)), ("created", .text(created.formatted(.iso8601))),
            ("kind", .text(kind.rawValue)), ("derivation", .text(derivation.description)),
        ])
    }

    var line: String {
        [id, created.formatted(.iso8601), kind.rawValue.padding(to: 13), derivation.description.padding(to: 16), label]
            .joined(separator: "  ")
    }
}
