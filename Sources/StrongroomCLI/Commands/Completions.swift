import ArgumentParser

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write the completions of this program for a shell.")

    @Argument(help: "bash, zsh or fish.", completion: .list(["bash", "zsh", "fish"]))
    var shell: String

    func run() throws {
        guard let shell = CompletionShell(rawValue: shell) else { throw ValidationError("The shell is bash, zsh or fish.") }
        try Console.output(StrongroomCommand.completionScript(for: shell))
    }
}
