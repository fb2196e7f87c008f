import ArgumentParser
import Foundation

/// A page of the manual, in the macros of mdoc(7): one for the program, one for each command.
struct ManualPage {
    private let tool: ToolHelp.Command
    /// The names of the commands that lead to this one, and its own.
    private let path: [String]
    private let examples: [(line: String, what: String)]
    private var isRoot: Bool { path.count == 1 }

    static func all() throws -> [ManualPage] {
        let root = try ToolHelp.current().command
        return pages(StrongroomCommand.self, root, [root.commandName])
    }

    /// Returns the page of a command, and those of its subcommands.
    private static func pages(
        _ command: any ParsableCommand.Type, _ tool: ToolHelp.Command, _ path: [String]
    ) -> [ManualPage] {
        let examples = (command as? any Documented.Type)?.examples ?? []
        let documented = command.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        return [ManualPage(tool: tool, path: path, examples: examples)]
            + documented.flatMap { command in
                tool.subcommands?.first { $0.commandName == command._commandName }
                    .map { pages(command, $0, path + [$0.commandName]) } ?? []
            }
    }

    private var name: String { path.joined(separator: "-") }
    var fileName: String { name + ".1" }

    var text: String {
        let parts = [
            head, synopsis, description, commands, isRoot ? "" : options, isRoot ? environment : "", files,
            exitStatus, exampleLines, seeAlso,
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
    }

    // MARK: - Sections

    private var head: String {
        """
        .Dd $Mdocdate$
        .Dt \(name.uppercased()) 1
        .Os
        .Sh NAME
        .Nm \(name)
        .Nd \(Self.escaped(Self.withoutStop(tool.abstract ?? "")).lowercasedFirst)
        """
    }

    private var synopsis: String {
        guard !isRoot else { return ".Sh SYNOPSIS\n.Nm strongroom\n.Ar command\n.Op Ar options\n.Ar argument ..." }
        let arguments = (tool.arguments ?? []).filter { $0.kind == "positional" }.map { argument in
            let word = Self.escaped(argument.valueName ?? "") + (argument.isRepeating ? " ..." : "")
            return argument.isOptional ? ".Op Ar \(word)" : ".Ar \(word)"
        }
        return
            ([
                ".Sh SYNOPSIS", ".Nm \(path.joined(separator: " "))",
                ".Op Ar options",
            ] + arguments).joined(separator: "\n")
    }

    private var description: String {
        let texts = [tool.abstract, tool.discussion].compactMap { $0 }.filter { !$0.isEmpty }
        let paragraphs = texts.flatMap { $0.components(separatedBy: "\n\n") }
            .filter { !$0.hasPrefix(HelpPart.example) && !$0.hasPrefix(HelpPart.statuses) }
        return ".Sh DESCRIPTION\n" + paragraphs.map(Self.paragraph).joined(separator: "\n.Pp\n")
    }

    private var commands: String {
        let shown = (tool.subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
        guard !shown.isEmpty else { return "" }
        let lines = shown.map { ".It Xr \(name)-\($0.commandName) 1\n\(Self.escaped($0.abstract ?? ""))" }
        return Self.list("COMMANDS", lines)
    }

    private var options: String {
        let shown = (tool.arguments ?? []).filter { $0.shouldDisplay && $0.kind != "positional" }
        var titles: [String] = []
        for title in shown.compactMap(\.sectionTitle) where !titles.contains(title) { titles.append(title) }
        let groups = titles.map { title in
            ".Ss \(title)\n" + Self.items(shown.filter { $0.sectionTitle == title }.map(Self.item))
        }
        let others = Self.items(shown.filter { $0.sectionTitle == nil }.map(Self.item))
        return ([".Sh OPTIONS", others] + groups).joined(separator: "\n")
    }

    private static func item(_ argument: ToolHelp.Argument) -> String {
        let names = (argument.names ?? []).map { ($0.kind == "short" ? "\\-" : "\\-\\-") + escaped($0.name) }
        let value = argument.kind == "option" ? " Ar \(escaped(argument.valueName ?? "value"))" : ""
        let byDefault = argument.defaultValue.map { "The default is \($0)." }
        let help = [argument.abstract, byDefault].compactMap { $0 }.joined(separator: " ")
        return ".It Sy \(names.joined(separator: ", "))\(value)\n\(paragraph(help))"
    }

    private var environment: String {
        let variables = [
            ("STRONGROOM_PASSPHRASE_FILE", "The file that holds the passphrase, unless an option gives it."),
            ("STRONGROOM_PASSPHRASE_COMMAND", "A line for the shell that writes the passphrase."),
            ("STRONGROOM_NEW_PASSPHRASE_FILE", "The file that holds the new passphrase of a rotation."),
            ("STRONGROOM_NEW_PASSPHRASE_COMMAND", "A line for the shell that writes it."),
        ]
        return Self.list("ENVIRONMENT", variables.map { ".It Ev \($0)\n\($1)" })
    }

    private var files: String {
        """
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa FILE\\-wal , FILE\\-shm , FILE\\-journal
        SQLite's files beside a database in use. They belong to it.
        .It Pa FILE\\-salt
        The salt of a database with a plaintext header. Back it up with the database: without it no passphrase opens it.
        .It Pa FILE\\-keys
        The key slots of a database. Back it up with the database: without it only the exported data key opens it.
        .It Pa FILE\\-salt\\-next , FILE\\-keys\\-next
        A rotation is running, or was interrupted. The same command, run again, finishes it.
        .It Pa .strongroom\\-*
        A folder in which a copy is written. The next command that makes a copy in the same folder removes what a killed
        one left.
        .El
        """
    }

    private var exitStatus: String {
        Self.list("EXIT STATUS", Status.allCases.map { ".It \($0.rawValue)\n\($0.meaning)" })
    }

    private var exampleLines: String {
        guard !examples.isEmpty else { return "" }
        let lines = examples.map { ".Bd -literal\n\(Self.escaped($0.line))\n.Ed\n\(Self.escaped($0.what))." }
        return ".Sh EXAMPLES\n" + lines.joined(separator: "\n.Pp\n")
    }

    private var seeAlso: String {
        isRoot ? ".Sh SEE ALSO\n.Xr sqlite3 1" : ".Sh SEE ALSO\n.Xr strongroom 1"
    }

    // MARK: - Text

    private static func list(_ title: String, _ items: [String]) -> String {
        ".Sh \(title)\n" + self.items(items)
    }

    private static func items(_ items: [String]) -> String {
        ([".Bl -tag -width Ds"] + items + [".El"]).joined(separator: "\n")
    }

    /// Returns the text with one sentence a line, as mdoc(7) recommends.
    private static func paragraph(_ text: String) -> String {
        escaped(text.replacing("\n", with: " ")).replacing(". ", with: ".\n")
    }

    private static func escaped(_ text: String) -> String {
        let plain = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return plain.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
    }

    private static func withoutStop(_ text: String) -> String { text.hasSuffix(".") ? String(text.dropLast()) : text }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

/// The argument parser's description of the commands.
struct ToolHelp: Decodable {
    let command: Command

    struct Command: Decodable {
        let commandName: String
        let abstract: String?
        let discussion: String?
        let shouldDisplay: Bool?
        let subcommands: [Command]?
        let arguments: [Argument]?
    }

    struct Argument: Decodable {
        let kind: String
        let shouldDisplay: Bool
        let isOptional: Bool
        let isRepeating: Bool
        let sectionTitle: String?
        let names: [Name]?
        let preferredName: Name?
        let valueName: String?
        let defaultValue: String?
        let abstract: String?
    }

    struct Name: Decodable {
        let kind: String
        let name: String
    }

    static func current() throws -> ToolHelp {
        try JSONDecoder().decode(ToolHelp.self, from: Data(StrongroomCommand._dumpHelp().utf8))
    }
}
