import ArgumentParser
import Foundation
import Strongroom

struct KeyRestore: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Put a copy of the slot file back.",
        discussion: help(
            """
            The passphrase is one of the copy. It must open the database with the copy before the slot file changes.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull]))

    static let examples = [
        (line: "strongroom key restore notes.db notes.keys --force", what: "replaces a damaged slot file")
    ]

    @Argument(help: "A database whose slot file is missing or damaged.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The copy to read.", valueName: "copy"), completion: .file())
    var name: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Replace the present slot file.")
    var force = false

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        let backup = try Place(name)
        guard FileIdentity(backup.path) != nil || ![ENOENT, ENOTDIR].contains(errno) else { throw Failure.absent(name) }
        guard force || !target.inspection.hasSlotFile else {
            throw Failure(
                .other, file: file, "it has a slot file already; nothing was changed",
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
        try done([("slots", .list(found.map(\.json)))], "its slot file was restored, with \(count).")
    }
}
