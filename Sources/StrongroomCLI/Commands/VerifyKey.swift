import ArgumentParser
import Strongroom

struct VerifyKey: Reporting {
    static let configuration = CommandConfiguration(
        commandName: "verify-key",
        abstract: "Tell whether a passphrase opens a database.",
        discussion: "Nothing is written. Exit status 0 says yes, 12 says no.")

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        let queue = try target.open(try passphrase.current(of: file).key, readonly: true)
        try attributing(to: file) { try queue.close() }
        try output.done(Self.self, file, text: "\(file): this key opens it.")
    }
}
