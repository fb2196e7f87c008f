import ArgumentParser
import Foundation
import StrongroomReplica

struct Prune: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Remove old restore points of a replica.",
        discussion: help(
            """
            --keep 7d,4w,12m keeps the newest restore point of each of the last 7 days, 4 weeks and 12 months that \
            have one; h and y stand for hours and years. --keep-within keeps every restore point of a time. The newest \
            one always stays, and so does what a kept one needs: the full restore point before it, and those between. \
            The replicator may run meanwhile.
            """,
            statuses: [.absent, .unreachable]))

    static let examples = [
        (line: "strongroom prune /mnt/backup/notes --keep-within 30d", what: "keeps each moment of the last 30 days"),
        (
            line: "strongroom prune /mnt/backup/notes --keep-within 48h --keep 7d,4w,12m",
            what: "keeps each moment of two days, and one of each day, week and month before"
        ),
    ]

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @Option(help: ArgumentHelp("Keep each restore point of this time: 90s, 15m, 12h, 30d.", valueName: "time"))
    var keepWithin: ReplicaDuration?

    @Option(help: ArgumentHelp("Keep one restore point of each of these: 7d,4w,12m.", valueName: "numbers"))
    var keep: ReplicaRetention?

    @Flag(help: "Only print the number of restore points that would be removed.")
    var dryRun = false

    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func validate() throws {
        guard keep != nil || keepWithin != nil else { throw ValidationError("prune needs --keep or --keep-within.") }
    }

    func run() throws {
        let count = try replicating {
            if var retention = keep {
                retention.within = keepWithin?.milliseconds ?? 0
                return try DatabaseReplica.prune(
                    destination, keeping: retention, isDryRun: dryRun, reading: options.reading)
            }
            let oldest = Int64(Date().timeIntervalSince1970 * 1000) - keepWithin!.milliseconds
            return try DatabaseReplica.prune(destination, before: oldest, isDryRun: dryRun, reading: options.reading)
        }
        try output.removed(Self.self, destination, count, dryRun)
    }
}

struct Forget: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Remove the restore points that a former key opens.",
        discussion: help(
            """
            For a key that has leaked: rotate the key of the database first, let the replicator store the result, then \
            run this. Every restore point before the newest key generation is removed. Nothing is removed while the \
            newest history has no full restore point of that generation. VACUUM begins one, too: if it \
            ran after the rotation, restore points between the two are removed as well. If it ran and the key was not \
            rotated, what stays opens with the same key.
            """,
            statuses: [.absent, .unreachable]))

    static let examples = [
        (line: "strongroom forget /mnt/backup/notes --before-rotation", what: "removes what the former key opens")
    ]

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @Flag(help: "Remove every restore point before the newest key generation.")
    var beforeRotation = false

    @Flag(help: "Only print the number of restore points that would be removed.")
    var dryRun = false

    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func validate() throws {
        guard beforeRotation else { throw ValidationError("forget needs --before-rotation.") }
    }

    func run() throws {
        let count = try replicating {
            try DatabaseReplica.forgetFormerGenerations(destination, isDryRun: dryRun, reading: options.reading)
        }
        try output.removed(Self.self, destination, count, dryRun)
    }
}

extension OutputOptions {
    fileprivate func removed(_ command: any Reporting.Type, _ destination: String, _ count: Int, _ dryRun: Bool) throws
    {
        let members: [(String, JSON)] = [
            ("destination", .text(destination)), ("removed", .count(count)), ("dry_run", .bool(dryRun)),
        ]
        let would = dryRun ? "would be" : "were"
        try done(command, nil, members, text: "\(destination): \(counted(count, "restore point")) \(would) removed.")
    }
}
