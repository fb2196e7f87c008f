import ArgumentParser
import Foundation

@main
enum Main {
    static func main() {
        // Everything this program makes is its owner's alone: databases, logs and temporary copies.
        umask(0o077)
        Interruption.unblock()
        do {
            var command = try StrongroomCommand.parseAsRoot()
            do {
                try command.run()
            } catch let failure as Failure {
                if let command = command as? any Reporting { command.output.failed(type(of: command), failure) }
                throw failure
            }
        } catch {
            Foundation.exit(report(error).rawValue)
        }
    }

    /// Says what ended the program, on standard output when it was asked for (help, completions), else on standard error.
    private static func report(_ error: any Error) -> Status {
        if let failure = error as? Failure {
            Console.message("strongroom: \(failure)")
            return failure.status
        }
        let text = StrongroomCommand.fullMessage(for: error)
        switch StrongroomCommand.exitCode(for: error) {
        case .success:
            Console.output(text)
            return .done
        case .validationFailure:
            Console.message(text)
            return .usage
        default:
            Console.message("strongroom: \(text)")
            return .other
        }
    }
}
