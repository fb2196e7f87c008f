import ArgumentParser
import Strongroom

struct Rotate: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Change the passphrase of an encrypted database.",
        discussion: """
            Every page is encrypted anew, and the result is opened with the new passphrase and checked before this \
            command says that it is done. At every moment exactly one of the two passphrases opens the file, \
            whatever is interrupted.
            """)

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var newPassphrase: NewPassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Check the key and say what would be done; change nothing.")
    var dryRun = false

    func run() throws {
        let target = try Target(file, settings: format.settings)
        try target.requireEncrypted()
        let current = try passphrase.current(of: file)
        // Opened before the new passphrase is asked for: a wrong one is told at once.
        let oldKey = try current.key
        let queue = try target.open(oldKey, readonly: dryRun)
        if dryRun {
            try attributing(to: file) { try queue.close() }
            output.done(Self.self, file, [("dryRun", .bool(true)), ("bytes", .integer(target.inspection.size))],
                        text: "\(file): the passphrase opens it; \(target.inspection.size) bytes would be encrypted anew. Nothing was changed.")
            return
        }
        let new = try newPassphrase.new(for: file)
        let newKey = try new.key
        guard !new.hasSameBytes(as: current) else {
            throw Failure(.other, file: file, "the new passphrase is the one in use; nothing was changed",
                          remedy: "Give another one")
        }
        do {
            try rotate(queue, to: newKey)
        } catch var failure as Failure {
            failure.remedy = (failure.remedy.map { $0 + ". " } ?? "") + opening(target, old: oldKey, new: newKey)
            throw failure
        }
        output.done(Self.self, file, [("bytes", .integer(target.inspection.size))],
                    text: "\(file): rotated and checked. Only the new passphrase opens it.")
    }

    private func rotate(_ queue: DatabaseQueue, to key: DatabaseKey) throws {
        var progress = ProgressLine("rotating", quiet: output.quiet)
        defer { progress.clear() }
        try Interruption.deferred { interruption in
            try attributing(to: file) {
                try queue.rotateKey(to: key) { done in
                    try interruption.check()
                    progress.show(completed: done.completedPageCount, of: done.totalPageCount)
                }
                try queue.close()
            }
        }
    }

    /// After a failure: which passphrase to keep, found out by trying rather than by reasoning.
    private func opening(_ target: Target, old: DatabaseKey, new: DatabaseKey) -> String {
        if (try? target.open(old, readonly: true)) != nil { return "The old passphrase opens it" }
        if (try? target.open(new, readonly: true)) != nil { return "The new passphrase opens it" }
        return "It could not be opened to see which passphrase holds: keep both"
    }
}
