import ArgumentParser

struct Completions: Documented {
    static let onlyReads = true

    static let configuration = CommandConfiguration(
        abstract: "Print a completion script for a shell.",
        discussion: help(
            "Source the output in the shell, or save it in the shell's folder for completions.",
            statuses: []))

    static let examples = [
        (line: "strongroom completions bash > ~/.local/share/bash-completion/completions/strongroom", what: "for bash")
    ]

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else {
            throw ValidationError("The shell is bash, zsh or fish.")
        }
        try Console.output(Self.withTopics(StrongroomCommand.completionScript(for: shell), shell))
    }

    /// Returns the script with the topics of `help`, which the parser does not complete.
    private static func withTopics(_ script: String, _ shell: CompletionShell) -> String {
        let shown = StrongroomCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }
        let topics = shown.map { $0._commandName }.joined(separator: " ")
        switch shell {
        case .bash:
            return script.replacing(
                "_strongroom_help() {\n    :\n}",
                with: "_strongroom_help() {\n    COMPREPLY+=($(compgen -W '\(topics)' -- \"${cur}\"))\n}")
        case .zsh: return script.replacing("'*:subcommands:'", with: "'*:topic:(\(topics))'")
        default:
            return script + "\ncomplete -c strongroom -n '__fish_seen_subcommand_from help' -fa '\(topics)'"
        }
    }
}
