import ArgumentParser
import Foundation
import Strongroom

@main
enum Main {
    static func main() {
        // Everything this program makes is its owner's alone: databases, logs and temporary copies.
        umask(0o077)
        Interruption.unblock()
        preventCoreDumps()
        // What stands beside a database is put away also when nobody reads on.
        signal(SIGPIPE, SIG_IGN)
        do {
            var command = try StrongroomCommand.parseAsRoot(Arguments.ofProcess().words)
            do {
                try command.run()
            } catch {
                // What others throw, help among it, is the argument parser's to tell.
                guard let command = command as? any Reporting, !isParsers(error) else { throw error }
                let failure = Failure(any: error, file: nil)
                command.output.failed(command, failure)
                throw failure
            }
        } catch {
            Foundation.exit(report(error).rawValue)
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

    /// Told already, or a wrong usage that only `run` finds.
    private static func isParsers(_ error: any Error) -> Bool {
        error is Told || error is ValidationError
    }

    /// Says what ended the program, on standard output when it was asked for (help, completions), else on standard
    /// error.
    private static func report(_ error: any Error) -> Status {
        if let told = error as? Told { return told.status }
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
            Console.message(text)
            reportUsageAsJSON(Failure(.usage, StrongroomCommand.message(for: error)))
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

    /// Nothing was parsed that could tell whether JSON was asked for: the arguments themselves do.
    private static func reportUsageAsJSON(_ failure: Failure) {
        let arguments = CommandLine.arguments.dropFirst()
        guard arguments.prefix(while: { $0 != "--" }).contains("--json") else { return }
        let command = arguments.first { !$0.hasPrefix("-") }.flatMap { Arguments.commands.contains($0) ? $0 : nil }
        var failure = failure
        failure.remedy = failure.remedy ?? "strongroom help \(command.map { $0 + " " } ?? "")lists the options"
        try? Console.output(JSON.object(OutputOptions.head(command, failure.file, .usage) + failure.members).line)
    }
}
