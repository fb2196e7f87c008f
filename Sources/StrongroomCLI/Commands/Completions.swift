import ArgumentParser

struct Completions: Documented {
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
        try Console.output(StrongroomCommand.completionScript(for: shell))
    }
}
