import ArgumentParser

/// The options for the output of a command.
struct OutputOptions: ParsableArguments {
    @Flag(help: "Write the outcome to standard output as one JSON object, a failure too.")
    var json = false

    @Flag(name: .shortAndLong, help: "Say nothing but warnings and errors.")
    var quiet = false

    /// Says that the work is done: `members` after the command, the file and the status when JSON was asked for, else
    /// `text` for people.
    func done(
        _ command: any Reporting.Type, _ file: String?, _ members: [(String, JSON)] = [], status: Status = .done,
        text: String) throws
    {
        if json {
            try Console.output(JSON.object(Self.head(command, file, status) + members).line)
        } else if !quiet {
            Console.message(text)
        }
    }

    func failed(_ command: any Reporting, _ failure: Failure) {
        guard json else { return }
        // Standard error says it too.
        let file = failure.file ?? command.database
        try? Console.output(JSON.object(Self.head(type(of: command), file, failure.status) + failure.members).line)
    }

    static func head(_ command: any Reporting.Type, _ file: String?, _ status: Status) -> [(String, JSON)] {
        head(command._commandName, file, status)
    }

    /// Returns the first members of each object. The command is nil if the arguments name none.
    static func head(_ command: String?, _ file: String?, _ status: Status) -> [(String, JSON)] {
        [("command", .optional(command)), ("file", .optional(file)), ("status", .integer(Int64(status.rawValue)))]
    }
}

/// A command whose outcome can be had as JSON.
protocol Reporting: ParsableCommand, Documented {
    var output: OutputOptions { get }
    /// The database that the command works on or creates; nil with several.
    var database: String? { get }
}

/// A command with examples for the help and the manual.
protocol Documented: ParsableCommand {
    /// Lines to type, each with what it does.
    static var examples: [(line: String, what: String)] { get }
}
