import ArgumentParser
import Foundation
import Strongroom

struct KeyAdd: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a key slot for a new secret.",
        discussion: help(
            """
            The database opens with the new secret and with those that it has. No page is written. With \
            --recovery-code, the secret is a code that is printed once, for a person to write down.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull]))

    static let examples = [
        (line: "strongroom key add notes.db --label laptop", what: "asks for a passphrase, and for the new one twice"),
        (line: "strongroom key add notes.db --recovery-code", what: "prints a code to write down"),
    ]

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "New key options") var newPassphrase: NewPassphraseOptions
    @OptionGroup(title: "Slot options") var slot: SlotOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Make a code that a person can write down and type.")
    var recoveryCode = false

    func validate() throws {
        guard !recoveryCode || !newPassphrase.isGiven else {
            throw ValidationError("--recovery-code is the new secret: leave out the new passphrase.")
        }
        try passphrase.validate(besides: newPassphrase)
    }

    func run() throws {
        let slots = try slots(target(), changing: true)
        if recoveryCode { return try addRecoveryCode(slots) }
        let secret = try newPassphrase.new(for: file), new = try slot.slot(newPassphrase.source, secret, of: file)
        let added = try attributing(to: file) { try slots.add(secret.key, new) }
        try done([("slot", added.json)], "slot \(added.id) (\(added.label)) was added, and opened.")
    }

    private func addRecoveryCode(_ slots: KeySlots) throws {
        let (code, added) = try attributing(to: file) { try slots.addingRecoveryCode(label: slot.recoveryLabel()) }
        do {
            try show(code, added)
        } catch {
            throw withdrawing(added, slots, error)
        }
    }

    /// Prints the code to standard output, in pieces: it never becomes a `String`, which can't be wiped.
    private func show(_ code: RecoveryCode, _ slot: KeySlot) throws {
        if output.json {
            let members: [(String, JSON)] = [("action", .text(Self.action)), ("slot", slot.json)]
            let head = JSON.object(OutputOptions.head(Self.self, file, .done) + members).line.dropLast()
            try Console.write(head + ",\"recovery_code\":\"", to: STDOUT_FILENO)
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
}
