import ArgumentParser

/// The options for the output of a command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Print the outcome, or the failure, as one JSON object.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print warnings and errors only.")
    var quiet = false

    /// Prints the outcome: with `--json` the command, the file, the status and `members`, otherwise
    /// `text` for people.
    func done(
        _ command: any Reporting.Type, _ file: String?, _ members: [(String, JSON)] = [], status: Status = .done,
        text: String
    ) throws {
        if json {
            try Console.output(JSON.object(Self.head(command, file, status) + members).line)
        } else if !quiet {
            Console.message(text)
        }
    }

    func failed(_ command: any Reporting, _ failure: Failure) {
        guard json else { return }
        // Standard error has the message, too.
        let file = failure.file ?? command.database
        try? Console.output(JSON.object(Self.head(type(of: command), file, failure.status) + failure.members).line)
    }

    static func head(_ command: any Reporting.Type, _ file: String?, _ status: Status) -> [(String, JSON)] {
        head(command.reportName, file, status)
    }

    /// Returns the first members of each object. The command is nil if the arguments name none.
    static func head(_ command: String?, _ file: String?, _ status: Status) -> [(String, JSON)] {
        [("command", .optional(command)), ("file", .optional(file)), ("status", .integer(Int64(status.rawValue)))]
    }
}

/// A command that can print its outcome as JSON.
protocol Reporting: ParsableCommand, Documented {
    var output: OutputOptions { get }
    /// The database that the command works on or creates; nil with several.
    var database: String? { get }
    /// The name of the command in JSON. Default: its own.
    static var reportName: String { get }
    /// True if this run of the command changes nothing, so that failures need not say so. Default: `onlyReads`.
    var isReading: Bool { get }
}

extension Reporting {
    static var reportName: String { _commandName }
    var isReading: Bool { Self.onlyReads }
}

/// A command with examples for the help and the manual.
protocol Documented: ParsableCommand {
    /// Command lines, each with a description. The first one is in the help, all are in the manual.
    static var examples: [(line: String, what: String)] { get }
    /// True if the command never changes anything. Default: false.
    static var onlyReads: Bool { get }
}

extension Documented {
    static var onlyReads: Bool { false }
}

extension Documented {
    /// The discussion of a command, followed by an example and its exit statuses.
    static func help(_ discussion: String, statuses: [Status]) -> String {
        let example = examples.first.map { "\n\n\(HelpPart.example)\n  \($0.line)" } ?? ""
        let meanings = ([.done, .other, .usage] + statuses).map { "\($0.rawValue) \($0.meaning)" }
        return "\(discussion)\(example)\n\n\(HelpPart.statuses) \(meanings.joined(separator: "; "))."
    }
}

/// The parts of a help text that the manual has in sections of their own.
enum HelpPart {
    static let example = "EXAMPLE:"
    static let statuses = "EXIT STATUS:"
}
