import ArgumentParser
import Foundation
import Strongroom

extension BackupRetention: ExpressibleByArgument {}

/// A time in ISO 8601, such as 2026-03-01T09:30:00Z.
struct BackupTime: ExpressibleByArgument {
    var date: Date

    init?(argument: String) {
        guard let date = try? Date(argument, strategy: .iso8601) else { return nil }
        self.date = date
    }
}

/// The options for former keys of a database.
struct FormerKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Try the former passphrase in this file, too. May be given several times.", valueName: "file"),
        completion: .file())
    var formerPassphraseFile: [String] = []

    @Option(
        help: ArgumentHelp("Try the former raw key in this file, too. May be given several times.", valueName: "file"),
        completion: .file())
    var formerRawKeyFile: [String] = []

    var isGiven: Bool { !formerPassphraseFile.isEmpty || !formerRawKeyFile.isEmpty }

    func encryptions(_ format: FormatOptions) throws -> [Encryption] {
        try secrets().map { try Encryption(key: $0.secret.key, plaintextHeader: format.header()) }
    }

    /// Returns the secrets with the names of their files.
    func secrets() throws -> [(name: String, secret: GivenSecret)] {
        let sources =
            formerPassphraseFile.map { ($0, SecretSource.file($0)) }
            + formerRawKeyFile.map { ($0, SecretSource.rawKeyFile($0)) }
        return try sources.map { ($0, try $1.read("", option: "former-passphrase-file")) }
    }
}

/// A check of several dated copies, with a progress display and the signals.
struct BackupChecking {
    let progress: ProgressOptions
    let quiet: Bool

    /// - parameter keys: the keys that may open the copies. Nil to compare the files with their records.
    func run(
        _ list: [DatabaseBackup], in backups: DatabaseBackups, _ keys: BackupCheck.Keys?
    ) throws -> [(DatabaseBackup, BackupCheck)] {
        let display = ProgressDisplay("checking", files: list.map { ($0.path, $0.size) }, progress, quiet: quiet)
        defer { display.clear() }
        return try Interruption.deferred { interruption in
            try list.map { backup in
                let check = try attributing(to: backup.path) {
                    try backups.check(backup, keys: keys) {
                        try interruption.check()
                        display.show(backup.path, $0)
                    }
                }
                for problem in check.problems { display.say("\(backup.path): \(problem)") }
                return (backup, check)
            }
        }
    }
}

extension [DatabaseBackup] {
    /// Prints a warning for each of these copies, which are dated in the future.
    func reportFuture() {
        for backup in self {
            Console.warning("\(backup.folder): its date is in the future, so its age is unknown: check the clock")
        }
    }
}
