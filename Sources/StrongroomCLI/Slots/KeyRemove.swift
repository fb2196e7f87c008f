import ArgumentParser
import Strongroom

struct KeyRemove: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a key slot.",
        discussion: help(
            """
            Refuses the last slot, and the one whose secret was given. Until rotate --data-key, the removed secret \
            opens older copies of the slot file, and with them the database.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull]))

    static let examples = [(line: "strongroom key remove notes.db laptop", what: "removes a slot by its label")]

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp("The identifier or the label of the slot to remove.", valueName: "slot"),
        completion: .custom(SlotNames.completions))
    var name: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() throws {
        let slots = try slots(target(), changing: true)
        let removed = try attributing(to: file) {
            let removed = try slots.slot(named: name)
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
            slot \(removed.id) (\(removed.label)) was removed. Its secret opens older copies of the slot file, and \
            with them the database, until: strongroom rotate --data-key
            """)
    }
}
