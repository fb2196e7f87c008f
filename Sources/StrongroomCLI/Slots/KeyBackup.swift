import ArgumentParser
import Strongroom

struct KeyBackup: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy the slot file of a database.",
        discussion: help(
            "The secrets of its slots open the database with the copy. The database does not change.",
            statuses: [.absent, .wrongKey, .damaged, .diskFull]))

    static let examples = [(line: "strongroom key backup notes.db notes.keys", what: "copies the slot file")]

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The copy to make.", valueName: "out"), completion: .file())
    var name: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() throws {
        if name == "-" {
            throw Failure(
                .usage, keyFile: "-", "a copy has another name; nothing was changed", remedy: "Give it another name")
        }
        let slots = try slots(target())
        let text = try attributing(to: file) { try slots.backup() }
        try text.withUnsafeBytes { try GivenSecret.write($0, toNew: name) }
        try done(
            [("backup", .text(name))],
            "\(name) has the slot file. The secrets of its slots open the database with it.")
    }
}
