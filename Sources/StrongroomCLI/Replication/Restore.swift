import ArgumentParser
import Foundation
import Strongroom
import StrongroomReplica

struct Restore: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Restore a database from a backup, or from a replica as it was at any restore point.",
        discussion: help(
            """
            SOURCE is a backup: a database file, the folder of a dated copy, a folder with dated copies of one \
            database, whose newest good one is taken, or - for the stream of strongroom backup FILE - on standard \
            input. Or it is a replica: a folder, or s3://BUCKET/PREFIX. FILE appears as a whole with its salt, \
            key and log files; a kill at any moment leaves the former database or the restored one, and the next \
            opening finishes. The former database, with all files beside it, stands aside under a name with the \
            date, unless --discard. FILE must not be in use.

            A backup is copied beside FILE, opened with its key, and each page is checked, before anything is touched. \
            The key need not be the present one of FILE. --no-check takes the files as they are, without a key.

            A replica needs no key: each page is proved. FILE opens with the key that the database had at that point. \
            --signer is the public key that strongroom replicate prints. Without it, a person who can write to \
            SOURCE can exchange the whole replica. --at-least notices that the end of the history was removed.

            With --follow, FILE goes on with the replica: each restore point is applied in one transaction while no \
            program has FILE open. Programs may read it, and must not write it. The next run goes on where this one \
            ended.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .unreachable, .tooOld, .interrupted]))

    static let examples = [
        (line: "strongroom restore /mnt/backup/notes.db notes.db", what: "puts a backup back"),
        (line: "ssh vault cat notes.tar | strongroom restore - notes.db", what: "puts a backup back that is a stream"),
        (line: "strongroom restore /mnt/backup/copies/ notes.db", what: "puts the newest of the dated copies back"),
        (line: "strongroom restore /mnt/backup/notes restored.db", what: "restores the newest point of a replica"),
        (
            line: "strongroom restore /mnt/backup/notes restored.db --at 2026-03-01T09:30:00Z",
            what: "restores the newest point up to that time"
        ),
    ]

    @Argument(
        help: ArgumentHelp(
            "A backup, a folder of backups or of a replica, -, or s3://BUCKET/PREFIX.", valueName: "source"),
        completion: .file())
    var destination: String

    @Argument(help: "The database to restore.", completion: .file())
    var file: String

    @Option(help: ArgumentHelp("A time in ISO 8601, or a position. Default: the newest.", valueName: "point"))
    var at: RestoreArgument?

    @Option(help: ArgumentHelp("Fail if the restore point is before this position.", valueName: "position"))
    var atLeast: UInt64?

    @Flag(help: "Go on with each restore point of a replica that arrives, until SIGTERM or Ctrl-C.")
    var follow = false

    @OptionGroup var backup: BackupRestoreOptions
    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { file }

    func validate() throws {
        guard !follow || at == nil && atLeast == nil else {
            throw ValidationError("--follow goes on with the newest restore point, without --at and --at-least.")
        }
    }

    func run() throws {
        var resolved = self
        if let copy = try datedCopy() {
            resolved.destination = copy.path
            // Its record tells the page size, which an encrypted file does not show.
            if format.pageSize == nil { resolved.format.pageSize = copy.settings.pageSize }
        }
        try resolved.restore()
    }

    private func restore() throws {
        try requireFittingOptions()
        let out = try Place(file)
        guard FileIdentity(out.folder + "/.") != nil || ![ENOENT, ENOTDIR].contains(errno) else {
            throw Failure(
                .absent, file: file, "its folder does not exist; nothing was changed",
                remedy: "Make the folder, or check the path")
        }
        if follow { return try Self.follow(destination, out, options.reading, output) }
        try backup.requireConsent(to: out)
        try out.requireUnused()
        WorkFolder.removeLeftOvers(in: out.folder)
        guard isReplica else { return try restoreBackup(to: out) }
        var point: ReplicaPoint?
        let former = try attributing(to: file) {
            try DatabaseFile.place(at: out.path, former: backup.former) { copy in
                point = try replicating {
                    try DatabaseReplica.restore(
                        from: destination, to: copy, target: at?.target ?? .newest,
                        atLeast: atLeast.map { ReplicaPosition($0) }, reading: options.reading)
                }
            }
        }
        guard let point else { return }
        try done(
            former, point.members,
            "restored and proved, position \(point.position), \(ReplicaTime.text(point.milliseconds))")
    }

    /// Prints the outcome.
    ///
    /// - parameter former: the path of the former database.
    func done(_ former: String?, _ members: [(String, JSON)], _ text: String) throws {
        let state = former.map { " The former database is \($0)." } ?? ""
        try output.done(
            Self.self, file, [("source", .text(destination)), ("former", .optional(former))] + members,
            text: "\(file): \(text).\(state)")
    }
}
