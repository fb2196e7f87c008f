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

    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { file }

    func run() throws {
        let out = try Place(file)
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
