import ArgumentParser
import Foundation
import StrongroomReplica

struct Verify: Reporting {
    static let onlyReads = true

    static let configuration = CommandConfiguration(
        abstract: "Prove every restore point of a replica, without the key or with it.",
        discussion: help(
            """
            Every object is read: names, digests, signatures, the chain of restore points, the pages of each state. \
            Nothing is written to DESTINATION.

            With a key, restore points are restored one after the other in a temporary folder, and opened with it: \
            every page is authenticated, structure and foreign keys are checked. Of each key generation ten are \
            opened, or as many as --sample says. What another key opens is counted; the newest restore point must \
            open with this one.
            """,
            statuses: [.absent, .wrongKey, .damaged, .unreachable]))

    static let examples = [
        (line: "strongroom verify /mnt/backup/notes", what: "reads and proves everything"),
        (
            line: "strongroom verify /mnt/backup/notes --passphrase-file key",
            what: "opens restore points with the key, too"
        ),
    ]

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @Option(
        help: ArgumentHelp(
            "Open so many restore points of each key generation. Default: 10, with a key.", valueName: "number"))
    var sample: Int?

    @Flag(help: "Open every restore point.")
    var everyPoint = false

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func validate() throws {
        guard sample ?? 1 > 0, sample == nil || !everyPoint else {
            throw ValidationError("Give a --sample of at least 1, or --every-point.")
        }
    }

    private var folder: String { FileManager.default.temporaryDirectory.path }

    func run() throws {
        let found = try replicating {
            try DatabaseReplica.verify(destination, temporaryFolder: folder, reading: options.reading)
        }
        guard found.provedCount > 0 || !found.problems.isEmpty else {
            throw Failure(
                .absent, file: destination, "it has no replica; nothing was changed", remedy: "Check the name")
        }
        var problems = found.problems.map { "\($0)" }, opened: Opened?
        let wantsKey = passphrase.isKnown || sample != nil || everyPoint
        if wantsKey, problems.isEmpty { opened = try open(&problems) }
        try report(found, opened, problems)
    }

    // MARK: With a key

    private struct Opened {
        var opened = 0
        var ofOtherKeys = 0
    }

    private func open(_ problems: inout [String]) throws -> Opened {
        let secret = try passphrase.current(of: destination)
        var opened = Opened(), newest: (point: ReplicaPoint, failure: Failure?)?, found: [String] = []
        try replicating {
            try DatabaseReplica.sample(
                destination, beside: folder + "/point", count: everyPoint ? nil : sample ?? 10,
                reading: options.reading
            ) { point, path in
                let name = "position \(point.position)"
                do {
                    let report = try open(path, secret)
                    opened.opened += 1
                    newest = (point, nil)
                    found += report.map { "\(name): \($0)" }
                } catch let failure as Failure where failure.status == .wrongKey {
                    opened.ofOtherKeys += 1
                    newest = (point, failure)
                } catch let failure as Failure {
                    found.append("\(name): \(failure.happened)")
                }
            }
        }
        problems += found
        if let newest, newest.failure != nil {
            throw Failure(
                .wrongKey, file: destination,
                "this key does not open the newest restore point, position \(newest.point.position); it opens "
                    + counted(opened.opened, "restore point") + " of \(opened.opened + opened.ofOtherKeys)",
                remedy: "Give the key that the database has now")
        }
        return opened
    }

    /// Returns the problems of a restored point.
    private func open(_ path: String, _ secret: GivenSecret) throws -> [String] {
        let target = try Target(path, format)
        guard !target.isClear else { return try target.check(nil).problems }
        return try target.recognized(secret).check(secret).problems
    }

    // MARK: The outcome

    private func report(_ found: ReplicaVerification, _ opened: Opened?, _ problems: [String]) throws {
        var members: [(String, JSON)] = [
            ("proved", .count(found.provedCount)),
            ("missing", .list(found.missing.map { .text("\($0.lowerBound)-\($0.upperBound)") })),
        ]
        var words = "\(counted(found.provedCount, "restore point")) proved"
        if let opened {
            members += [("opened", .count(opened.opened)), ("other_keys", .count(opened.ofOtherKeys))]
            words += ", \(opened.opened) opened"
            if opened.ofOtherKeys > 0 { words += ", \(opened.ofOtherKeys) with other keys" }
        }
        if !output.json {
            for problem in problems { try Console.output(problem) }
            for gap in found.missing {
                try Console.output("positions \(gap.lowerBound) to \(gap.upperBound) are missing: pruned, or removed")
            }
        }
        guard problems.isEmpty else {
            throw Failure(
                .damaged, file: destination, "\(counted(problems.count, "problem")); \(words)",
                details: members + [("problems", .list(problems.map { .text($0) }))],
                remedy: "Choose a restore point that is proved, and begin a new replica")
        }
        try output.done(
            Self.self, nil, [("destination", .text(destination))] + members, text: "\(destination): \(words).")
    }
}
