import ArgumentParser

struct Completions: Documented {
    static let configuration = CommandConfiguration(
        abstract: "Write the completions of this program for a shell.")

    static let examples = [
        (line: "strongroom completions bash > ~/.local/share/bash-completion/completions/strongroom", what: "for bash"),
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
