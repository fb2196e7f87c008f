import ArgumentParser
import Strongroom

struct KeyPasswd: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Give a key slot a new passphrase.",
        discussion: help(
            """
            Changes the slot that the passphrase opens, or SLOT. With a recovery code, name the slot of the passphrase \
            that is lost. No page is written, whatever the size of the database.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull]))

    static let examples = [
        (line: "strongroom key passwd notes.db", what: "asks for the passphrase, and for the new one twice"),
        (line: "strongroom key passwd notes.db laptop", what: "changes another slot"),
    ]

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp("The identifier or the label of the slot to change.", valueName: "slot"),
        completion: .custom(SlotNames.completions))
    var name: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "New key options") var newPassphrase: NewPassphraseOptions
    @OptionGroup(title: "Slot options") var derivation: SlotDerivationOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    func validate() throws { try passphrase.validate(besides: newPassphrase) }

    func run() throws {
        let slots = try slots(target(), changing: true)
        guard let name = name ?? slots.opened?.id else {
            throw Failure(
                .usage, file: file, "the data key was given, which is in no slot; nothing was changed",
                remedy: "Name the slot")
        }
        guard self.name != nil || slots.opened?.kind != .recoveryCode else {
            throw Failure(
                .usage, file: file, "the recovery code opened it, which would be given up; nothing was changed",
                remedy: "Name the slot of the passphrase that is lost, as strongroom key list shows it")
        }
        let changed = try attributing(to: file) { try slots.slot(named: name) }
        let secret = try newPassphrase.new(for: file), kind = try newPassphrase.source.slotKind(of: secret)
        let slot = try attributing(to: file) {
            try slots.change(changed.id, to: secret.key, kind: kind, derivation: derivation.given)
        }
        try done([("slot", slot.json)], "slot \(slot.id) (\(slot.label)) has the new passphrase; no page was written.")
    }
}
