import ArgumentParser
import Foundation
import StrongroomReplica

struct Verify: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Prove every restore point of a replica, without the key.",
        discussion: help(
            """
            Every object is read: names, digests, signatures, the chain of restore points, the pages of each state. \
            Nothing is written. Keys are not tried: strongroom check does that for a restored database.
            """,
            statuses: [.absent, .damaged, .unreachable]))

    static let examples = [
        (line: "strongroom verify /mnt/backup/notes", what: "reads and proves everything")
    ]

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func run() throws {
        let found = try replicating {
            try DatabaseReplica.verify(
                destination, temporaryFolder: FileManager.default.temporaryDirectory.path, reading: options.reading)
        }
        guard found.provedCount > 0 || !found.problems.isEmpty else {
            throw Failure(
                .absent, file: destination, "it has no replica; nothing was changed", remedy: "Check the name")
        }
        if !output.json { for problem in found.problems { try Console.output("\(problem)") } }
        let count = counted(found.provedCount, "restore point")
        guard found.problems.isEmpty else {
            throw Failure(
                .damaged, file: destination, "\(counted(found.problems.count, "problem")); \(count) proved",
                details: [
                    ("proved", .count(found.provedCount)),
                    ("problems", .list(found.problems.map { .text("\($0)") })),
                ], remedy: "Choose a restore point that is proved, and begin a new replica")
        }
        try output.done(
            Self.self, nil, [("destination", .text(destination)), ("proved", .count(found.provedCount))],
            text: "\(destination): \(count) proved.")
    }
}
