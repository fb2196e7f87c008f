import ArgumentParser
import Foundation
import Strongroom

struct FormerKeysCommand: Reporting {
    static let configuration = CommandConfiguration(
        commandName: "former-keys",
        abstract: "List and forget the former keys of a key store: they open the copies from before a rotation.",
        discussion: help(
            """
            STORE is the file with the current key of a program that keeps its key in a file (FileKeyStore). list \
            prints each former key: the time of the rotation that replaced it, its identifier, and its file, which \
            --passphrase-file accepts. forget removes the one with ID, or with --all each of them. Nothing opens the \
            copies from before that rotation then.
            """,
            statuses: [.absent]))

    static let examples = [
        (line: "strongroom former-keys list /etc/notes/key", what: "lists the keys that open older copies"),
        (
            line: "strongroom former-keys forget /etc/notes/key 5b0c0d0a5d6f3e1b9d0e4c7a8f213b6d",
            what: "removes one of them"
        ),
    ]

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case list, forget
    }

    @Argument(help: "list or forget.")
    var action: Action

    @Argument(help: "The file with the current key.", completion: .file())
    var store: String

    @Argument(help: ArgumentHelp("The identifier of a key, for forget.", valueName: "id"))
    var identifier: String?

    @Flag(help: "With forget, remove all former keys.")
    var all = false

    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func validate() throws {
        guard action == .forget else {
            guard !all, identifier == nil else { throw ValidationError("former-keys list takes one argument.") }
            return
        }
        guard all != (identifier != nil) else {
            throw ValidationError("former-keys forget takes an identifier or --all.")
        }
    }

    func run() throws {
        let keys = FileKeyStore(path: store)
        do {
            _ = try keys.load(.current)
            let former = (try keys.formerKeys() ?? []).sorted { $0.date > $1.date }
            switch action {
            case .list: try list(former)
            case .forget: try forget(former, in: keys)
            }
        } catch let error as KeyStoreError {
            throw Failure(error, store: store)
        }
    }

    private func list(_ former: [FormerKey]) throws {
        guard !output.json else { return try done(former, "") }
        for key in former { try Console.output(line(key)) }
        if former.isEmpty, !output.quiet { Console.message("\(store): there is no former key.") }
    }

    private func forget(_ former: [FormerKey], in keys: FileKeyStore) throws {
        let chosen = former.filter { all || $0.identifier == identifier }
        guard all || !chosen.isEmpty else {
            throw Failure(
                .other, keyFile: store, "it has no former key \(identifier!); nothing was changed",
                remedy: "strongroom former-keys list \(shellQuoted(store)) lists them")
        }
        for key in chosen { try keys.remove(key) }
        try done(chosen, "\(store): \(counted(chosen.count, "former key")) removed.")
    }

    private func line(_ key: FormerKey) -> String {
        "\(key.date.formatted(.iso8601))  \(key.identifier)  \(store)-\(key.name)"
    }

    private func done(_ keys: [FormerKey], _ text: String) throws {
        let members: [(String, JSON)] = [
            ("action", .text(action.rawValue)), ("key_store", .text(store)), ("former_keys", .list(keys.map(\.json))),
        ]
        try output.done(Self.self, nil, members, text: text)
    }
}

extension FormerKey {
    var json: JSON {
        .object([("identifier", .text(identifier)), ("date", .text(date.formatted(.iso8601)))])
    }
}

extension Failure {
    init(_ error: KeyStoreError, store: String) {
        switch error {
        case .absent:
            self.init(
                .absent, keyFile: store, "there is no key; nothing was changed",
                remedy: "Give the file with the current key")
        case .exists:
            self.init(.other, keyFile: store, "there is another key; nothing was changed", remedy: "Check the path")
        case .locked(let why), .failed(let why):
            self.init(.other, keyFile: store, why, remedy: "Check the file and its folder")
        }
    }
}
