import ArgumentParser
import Foundation
import Strongroom

struct Key: Documented {
    static let configuration = CommandConfiguration(
        abstract: "List and change the key slots of a database: the secrets that open it.",
        discussion: help(
            """
            Each subcommand has its own help. list needs no key. The others take the secret of any slot.

            Until rotate --data-key, a secret that was removed opens older copies of the slot file, and with them the \
            database. After a failure, either every change was made or none was.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull]),
        subcommands: [
            KeyList.self, KeyAdd.self, KeyPasswd.self, KeyRemove.self, KeyExport.self, KeyBackup.self, KeyRestore.self,
        ])

    static let examples = [
        (line: "strongroom key list notes.db", what: "lists the slots"),
        (line: "strongroom key add notes.db --label laptop", what: "asks for a passphrase, and for the new one twice"),
        (line: "strongroom key passwd notes.db", what: "changes the passphrase, whatever the size of the database"),
    ]

    func run() throws { throw ValidationError("no subcommand given") }
}

/// A subcommand of `strongroom key`.
protocol KeyCommand: Reporting {
    var file: String { get }
    var passphrase: PassphraseOptions { get }
    var format: FormatOptions { get }
}

extension KeyCommand {
    static var reportName: String { Key._commandName }
    static var action: String { _commandName }

    var database: String? { file }

    func done(_ members: [(String, JSON)], _ text: String) throws {
        try output.done(Self.self, file, [("action", .text(Self.action))] + members, text: "\(file): \(text)")
    }

    /// Returns the database, which has key slots.
    func target() throws -> Target {
        let target = try Target(file, format)
        try target.requireEncrypted()
        guard target.inspection.hasSlotFile else { throw Failure(reason: .unfitKeySlots, file: file)! }
        return target
    }

    /// Returns the slots, opened with the passphrase.
    ///
    /// - parameter changing: true to change them.
    func slots(_ target: Target, changing: Bool = false) throws -> KeySlots {
        try passphrase.unlocking(file) { secret, _ in
            // Opening for writing ends a killed renewal of the data key. Slots can't be changed before that.
            if changing, target.inspection.isRotationPending { try target.writing(secret) { _ in } }
            return try target.reading(secret) { try $0.keySlots() }
        }
    }
}

extension PassphraseOptions {
    /// Refuses to read two keys from standard input.
    func validate(besides new: NewPassphraseOptions) throws {
        let sources = [(try? source)?.isStandardInput, (try? new.source)?.isStandardInput]
        guard sources.contains(where: { $0 != true }) else {
            throw ValidationError("Standard input holds one key: take the other from elsewhere.")
        }
    }
}

/// The names of slots for the completions of a shell.
enum SlotNames {
    /// Returns the identifiers and labels of the first database with slots among the words of a command line.
    @Sendable static func completions(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        for word in words where FileManager.default.fileExists(atPath: CompanionFile.keys.path(of: word)) {
            guard let slots = try? DatabaseFile.keySlots(path: word) else { continue }
            return slots.flatMap { [$0.id, $0.label] }
        }
        return []
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
