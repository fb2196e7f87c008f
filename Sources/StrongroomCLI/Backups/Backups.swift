import ArgumentParser
import Foundation
import Strongroom

struct Backups: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "List the dated copies in a folder, with the key that opens each.",
        discussion: help(
            """
            With a key, the command opens each copy and tells which key does: the current one, a former one, or none \
            of them (unknown). --verify authenticates every page and checks the structure. Without a key, or where no \
            key fits, it compares each file with the SHA-256 that was stored when the copy was made: that finds \
            damage, but not a change by a person who can write the folder. The result is stored beside the copy, and \
            is all that is written.

            --max-age fails if the newest good copy of a database is older, and so does a folder without copies: for \
            monitoring. --keep shows what a rule of strongroom backup would forget, and removes nothing.
            """,
            statuses: [.absent, .damaged, .tooOld, .interrupted]))

    static let examples = [
        (line: "strongroom backups /srv/backup/notes", what: "lists the copies"),
        (
            line: "strongroom backups /srv/backup/notes --max-age 26h --json",
            what: "fails if the newest is older, for alarms"
        ),
        (
            line: "strongroom backups /srv/backup/notes --verify --passphrase-file new --former-passphrase-file old",
            what: "checks each copy with the key that opens it"
        ),
    ]

    @Argument(help: "A folder of dated copies.", completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("Only the copies of this database.", valueName: "file"), completion: .file())
    var of: String?

    @Option(help: ArgumentHelp("Fail if the newest good copy is older: 90s, 15m, 26h, 2d.", valueName: "time"))
    var maxAge: ReplicaDuration?

    @Flag(help: "Check each copy as its user opens it.")
    var verify = false

    @Option(help: ArgumentHelp("Show what this rule would forget.", valueName: "rule"))
    var keep: BackupRetention?

    @Option(
        help: ArgumentHelp(
            "Open the copies with the key of the key store in this file, or with its former keys.", valueName: "file"),
        completion: .file())
    var keyStore: String?

    @Option(
        help: ArgumentHelp("Write figures for Prometheus to this file, as a whole.", valueName: "file"),
        completion: .file())
    var metrics: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Key options") var former: FormerKeyOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func validate() throws {
        guard keyStore == nil || !passphrase.isGiven else {
            throw ValidationError("--key-store gives the key: leave out the other key options.")
        }
        guard !former.isGiven || keyStore != nil || passphrase.isKnown else {
            throw ValidationError("Former keys go with the current one.")
        }
    }

    func run() throws {
        guard FileIdentity(folder) != nil else { throw Failure.absent(folder) }
        let backups = DatabaseBackups(folder: folder), keys = try givenKeys()
        let list = try attributing(to: folder) { try backups.backups(of: of.map { try Place($0).path }) }
        var checks: [String: BackupCheck] = [:]
        if verify {
            let results = try BackupChecking(progress: progress, quiet: output.quiet).run(list, in: backups, keys)
            checks = Dictionary(results.map { ($0.path, $1) }) { first, _ in first }
        }
        let forgotten = try keep.map { rule in
            try attributing(to: folder) {
                try Set(
                    backups.forget(keeping: rule, of: of.map { try Place($0).path }, isDryRun: true).removed.map(\.path)
                )
            }
        }
        let lines = try list.map { backup in
            let opened = try open(backup, in: backups, verify ? nil : keys), check = checks[backup.path]
            return BackupLine(
                backup, check: check ?? opened?.damage ?? backup.lastCheck, key: check?.key ?? opened?.key,
                isForgotten: forgotten?.contains(backup.path))
        }
        let unreadable = try backups.damagedNames()
        let foreign = try backups.foreignNames().filter { !unreadable.contains($0) }
        try report(
            BackupList(folder: folder, lines: lines, foreign: foreign, unreadable: unreadable, maxAge: maxAge))
    }

    private func givenKeys() throws -> BackupCheck.Keys? {
        let current: DatabaseKey
        if let keyStore {
            current = .managed(by: FileKeyStore(path: keyStore))
        } else {
            guard passphrase.isKnown else { return nil }
            current = try passphrase.current(of: folder).key
        }
        return try BackupCheck.Keys(
            current: Encryption(key: current, plaintextHeader: format.header()), former: former.encryptions(format))
    }

    /// Returns the key that opens a copy, and the damage if none can. Nil if no key is to be tried.
    private func open(
        _ backup: DatabaseBackup, in backups: DatabaseBackups, _ keys: BackupCheck.Keys?
    ) throws -> (key: BackupCheck.Key, damage: BackupCheck?)? {
        // A copy that has lost a file is listed as such.
        guard let keys, backup.isComplete else { return nil }
        let opened = try attributing(to: backup.path) { try backups.opening(backup, among: keys) }
        for problem in opened.damage?.problems ?? [] { Console.warning("\(backup.path): \(problem)") }
        return opened
    }

    private func report(_ list: BackupList) throws {
        if let metrics { try MetricsFile(metrics).write(list.metrics) }
        if output.json {
            try output.done(Self.self, nil, list.members, status: list.status, text: "")
        } else if !output.quiet {
            for line in list.lines { try Console.output(line.description) }
        }
        for name in list.foreign {
            Console.warning("\(folder)/\(name): it is not a dated copy, and stays as it is")
        }
        for name in list.unreadable { Console.warning("\(folder)/\(name): its record is missing or damaged") }
        list.future.map(\.backup).reportFuture()
        guard let failure = list.failure else { return }
        if !output.json || list.lines.isEmpty { Console.message("strongroom: \(failure)") }
        throw ReportedError(status: failure.status)
    }
}
