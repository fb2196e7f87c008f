import ArgumentParser
import StrongroomReplica

struct Restore: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Restore a database from a replica, as it was at any restore point, without its key.",
        discussion: help(
            """
            OUT appears when each page is proved, with its salt and key files. It opens with the key that the database \
            had at that point. An existing file is never replaced.

            --signer is the public key that strongroom replicate prints. Without it, a person who can write to \
            DESTINATION can exchange the whole replica. --at-least notices that the end of the history was removed.

            With --follow, OUT goes on with the replica: each restore point is applied in one transaction while no \
            program has OUT open. Programs may read it, and must not write it. The next run goes on where this one ended.
            """,
            statuses: [.absent, .damaged, .diskFull, .unreachable, .tooOld]))

    static let examples = [
        (line: "strongroom restore /mnt/backup/notes restored.db", what: "restores the newest point"),
        (
            line: "strongroom restore /mnt/backup/notes restored.db --at 2026-03-01T09:30:00Z",
            what: "restores the newest point up to that time"
        ),
    ]

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @Argument(help: ArgumentHelp("The database to make.", valueName: "out"), completion: .file())
    var file: String

    @Option(help: ArgumentHelp("A time in ISO 8601, or a position. Default: the newest.", valueName: "point"))
    var at: RestoreArgument?

    @Option(help: ArgumentHelp("Fail if the restore point is before this position.", valueName: "position"))
    var atLeast: UInt64?

    @Flag(help: "Go on with each restore point that arrives, until SIGTERM or Ctrl-C.")
    var follow = false

    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { file }

    func validate() throws {
        guard !follow || at == nil && atLeast == nil else {
            throw ValidationError("--follow goes on with the newest restore point, without --at and --at-least.")
        }
    }

    func run() throws {
        let out = try Place(file)
        if follow { return try Self.follow(destination, out, options.reading, output) }
        let point = try replicating {
            try DatabaseReplica.restore(
                from: destination, to: out.path, target: at?.target ?? .newest,
                atLeast: atLeast.map { ReplicaPosition($0) }, reading: options.reading)
        }
        try output.done(
            Self.self, file, [("source", .text(destination))] + point.members,
            text: "\(file): restored and proved, position \(point.position), \(ReplicaTime.text(point.milliseconds)).")
    }
}
