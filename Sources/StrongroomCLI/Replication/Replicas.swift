import ArgumentParser
import Foundation
import StrongroomReplica

struct Replicas: Reporting {
    static let onlyReads = true

    static let configuration = CommandConfiguration(
        abstract: "List the restore points of a replica.",
        discussion: help(
            """
            Only the names of objects are read. strongroom verify proves them. The key generation grows when every \
            page was written anew: by a rotation, or by VACUUM.
            """,
            statuses: [.absent, .unreachable, .tooOld]))

    static let examples = [
        (line: "strongroom replicas /mnt/backup/notes", what: "lists the restore points"),
        (line: "strongroom replicas /mnt/backup/notes --max-age 5m", what: "fails if nothing was heard for 5 minutes"),
    ]

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @Option(help: ArgumentHelp("Fail if nothing was heard of the replicator for this long.", valueName: "time"))
    var maxAge: ReplicaDuration?

    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func run() throws {
        let histories = try replicating { try DatabaseReplica.histories(in: destination, reading: options.reading) }
        let points = histories.flatMap(\.points)
        guard let last = histories.map(\.lastSeen).max(), !points.isEmpty else {
            throw Failure(
                .absent, file: destination, "it has no replica; nothing was changed", remedy: "Check the name")
        }
        let age = max(0, Int64(Date().timeIntervalSince1970 * 1000) - last)
        let isTooOld = maxAge.map { age > $0.milliseconds } ?? false
        let status: Status = isTooOld ? .tooOld : .done
        if output.json {
            try output.done(
                Self.self, nil,
                [
                    ("destination", .text(destination)), ("age_seconds", .real(Double(age) / 1000)),
                    ("signers", .list(histories.map { .text("\($0.signer)") })),
                    ("points", .list(points.map { .object($0.members) })),
                ], status: status, text: "")
        } else {
            for point in points {
                try Console.output(
                    "\(point.position)  \(ReplicaTime.text(point.milliseconds))  key \(point.keyGeneration)  "
                        + "\(point.size) bytes")
            }
        }
        guard isTooOld else { return }
        Console.message("strongroom: \(destination): nothing was heard of its replicator for \(age / 1000) seconds.")
        throw ReportedError(status: .tooOld)
    }
}
