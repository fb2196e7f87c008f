import ArgumentParser
import Strongroom

struct KeyList: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the key slots of a database.",
        discussion: help(
            "Nothing is written. No key is needed; with one, the slot file is authenticated, too.",
            statuses: [.absent, .wrongKey, .damaged]))

    static let examples = [(line: "strongroom key list notes.db", what: "lists the slots")]
    static let onlyReads = true

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() throws {
        let target = try target(), found: [KeySlot]
        if passphrase.isGiven {
            let slots = try slots(target)
            found = try attributing(to: file) { try slots.slots }
        } else {
            found = target.inspection.keySlots
            // Throws what is wrong with the slot file.
            if found.isEmpty { _ = try attributing(to: file) { try DatabaseFile.keySlots(path: target.place.path) } }
        }
        guard !output.json else { return try done([("slots", .list(found.map(\.json)))], "") }
        try Console.output(found.map(\.line).joined(separator: "\n"))
    }
}
