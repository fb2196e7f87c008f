import ArgumentParser
import Foundation
import Strongroom

@main
enum Main {
    static func main() {
        openStandardDescriptors()
        // All files of this program are readable by their owner only: databases, logs and temporary copies.
        umask(0o077)
        Interruption.unblock()
        preventCoreDumps()
        // Sidecars are also removed if the reader of standard output has gone.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try StrongroomCommand.parseAsRoot(Arguments.ofProcess().words)
            do {
                try command.run()
            } catch {
                // The argument parser prints other errors, and help.
                guard let command = command as? any Reporting, !isParsers(error) else { throw error }
                var failure = Failure(any: error, file: nil)
                if command.isReading { failure = failure.withoutState }
                command.output.failed(command, failure)
                Console.message("strongroom: \(failure)")
                throw ReportedError(status: failure.status)
            }
        } catch {
            Foundation.exit(report(error).rawValue)
        }
    }

    /// Takes the numbers of closed standard descriptors, so that no pipe and no database gets one. Reading from it, or
    /// writing to it, fails as before.
    private static func openStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// SQLCipher keeps keys in ordinary memory.
    private static func preventCoreDumps() {
        do {
            try CoreDumps.prevent()
        } catch {
            Console.warning("\((error as? DatabaseError)?.message ?? "\(error)"): one could hold keys")
        }
    }

    /// Returns true for failures that were printed, and for wrong usages that only `run` finds.
    private static func isParsers(_ error: any Error) -> Bool {
        error is ReportedError || error is ValidationError
    }

    /// Prints the end of the program, on standard output if it was requested (help, completions), otherwise on standard
    /// error.
    private static func report(_ error: any Error) -> Status {
        if let reported = error as? ReportedError { return reported.status }
        if let failure = error as? Failure {
            Console.message("strongroom: \(failure)")
            // Nothing was parsed.
            if failure.status == .usage { reportUsageAsJSON(failure) }
            return failure.status
        }
        let text = StrongroomCommand.fullMessage(for: error)
        switch StrongroomCommand.exitCode(for: error) {
        case .success:
            return output(text)
        case .validationFailure:
            let failure = misuse(StrongroomCommand.message(for: error))
            Console.message("strongroom: \(failure)")
            reportUsageAsJSON(failure)
            return .usage
        default:
            Console.message("strongroom: \(text)")
            return .other
        }
    }

    private static func output(_ text: String) -> Status {
        do {
            try Console.output(text)
            return .done
        } catch {
            return report(error)
        }
    }

    /// Returns the failure of the arguments, in one line.
    private static func misuse(_ message: String) -> Failure {
        let words = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        let happened = words.hasSuffix(".") ? String(words.dropLast()) : words
        let command = namedCommand, subcommand = command == Key._commandName ? namedSubcommand : nil
        let topic = [command.map { "help " + $0 } ?? "--help", subcommand].compactMap { $0 }.joined(separator: " ")
        let hasOptions = command != nil && (command != Key._commandName || subcommand != nil)
        let failure = Failure(
            .usage, "\(happened); nothing was changed",
            remedy: "strongroom \(topic) lists the \(hasOptions ? "options" : "commands")")
        let type = StrongroomCommand.configuration.subcommands.first { $0._commandName == command }
        return (type as? any Documented.Type)?.onlyReads == true ? failure.withoutState : failure
    }

    private static var words: [String] { CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("-") } }

    /// The command among the arguments of the process.
    private static var namedCommand: String? { words.first.flatMap { Arguments.commands.contains($0) ? $0 : nil } }

    /// The subcommand of `key` among the arguments of the process.
    private static var namedSubcommand: String? {
        words.dropFirst().first.flatMap { Arguments.keyCommands.contains($0) ? $0 : nil }
    }

    /// Prints a failure of the arguments as JSON if they contain `--json`: they could not be parsed.
    private static func reportUsageAsJSON(_ failure: Failure) {
        guard CommandLine.arguments.dropFirst().prefix(while: { $0 != "--" }).contains("--json") else { return }
        var failure = failure
        failure.remedy = failure.remedy ?? "strongroom help \(namedCommand.map { $0 + " " } ?? "")lists the options"
        try? Console.output(JSON.object(OutputOptions.head(namedCommand, failure.file, .usage) + failure.members).line)
    }
}
