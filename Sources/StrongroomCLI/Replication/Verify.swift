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
            opened, or as many as --sample says. Each is listed with the key that opens it: the present one, a former \
            one of --former-passphrase-file or of the key store, or none that was given. The newest restore point must \
            open with one of them.

            --seal has the newest restore point vouched for by the key of the database, once everything was proved \
            and opened: later runs with the key notice if it, or any restore point before it, was exchanged with the \
            stolen key of the replicator. The seal is the only thing that is written. Give its position to \
            --sealed-at-least, so that a run notices that seals were removed.
            """,
            statuses: [.absent, .wrongKey, .damaged, .unreachable, .tooOld]))

    static let examples = [
        (line: "strongroom verify /mnt/backup/notes", what: "reads and proves everything"),
        (
            line: "strongroom verify /mnt/backup/notes --passphrase-file key",
            what: "opens restore points with the key, too"
        ),
        (
            line: "strongroom verify /mnt/backup/notes --passphrase-file new --former-passphrase-file old",
            what: "opens those from before a rotation with the former key"
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

    @Flag(help: "Seal the newest restore point with the key of the database, if nothing is wrong.")
    var seal = false

    @Option(help: ArgumentHelp("Fail without a valid seal of this position or a later one.", valueName: "position"))
    var sealedAtLeast: UInt64?

    @Option(
        help: ArgumentHelp(
            "Open restore points with the key of the key store in this file, or with its former keys.",
            valueName: "file"),
        completion: .file())
    var keyStore: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Key options") var former: FormerKeyOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Destination options") var options: ReplicaReadingOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }
    var isReading: Bool { !seal }

    func validate() throws {
        guard sample ?? 1 > 0, sample == nil || !everyPoint else {
            throw ValidationError("Give a --sample of at least 1, or --every-point.")
        }
        guard keyStore == nil || !passphrase.isGiven else {
            throw ValidationError("--key-store gives the key: leave out the other key options.")
        }
        guard !former.isGiven || keyStore != nil || passphrase.isKnown else {
            throw ValidationError("Former keys go with the current one.")
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
        var problems = found.problems.map { "\($0)" }, opened: OpenedPoints?
        if wantsKey, problems.isEmpty {
            let keys = try PointKeys(passphrase, former, keyStore: keyStore, of: destination, format)
            opened = try open(keys)
            problems += opened!.problems
            try opened!.requireNewest(in: destination)
        }
        if let sealedAtLeast, problems.isEmpty { try opened?.requireSeal(sealedAtLeast, in: destination) }
        if seal, problems.isEmpty { try store(&opened!) }
        try report(found, opened, problems)
    }

    private var wantsKey: Bool {
        passphrase.isKnown || keyStore != nil || sample != nil || everyPoint || seal || sealedAtLeast != nil
    }

    // MARK: With a key

    private func open(_ keys: PointKeys) throws -> OpenedPoints {
        var opened = OpenedPoints()
        try replicating {
            try DatabaseReplica.sample(
                destination, beside: folder + "/point", count: everyPoint ? nil : sample ?? 10,
                reading: options.reading
            ) { sample in
                do {
                    opened.add(sample, try keys.open(sample))
                } catch let failure as Failure {
                    opened.add(sample, failure)
                }
            }
        }
        return opened
    }

    private func store(_ opened: inout OpenedPoints) throws {
        guard let newest = opened.points.last, let code = newest.opening.code else {
            throw Failure(
                .other, file: destination, "the newest restore point has no key; nothing was sealed",
                remedy: "Encrypt the database with: strongroom encrypt")
        }
        try replicating {
            try DatabaseReplica.seal(newest.sample, with: code, in: destination, reading: options.reading)
        }
        opened.sealed = newest.sample.point.position
    }

    // MARK: The outcome

    private func report(_ found: ReplicaVerification, _ opened: OpenedPoints?, _ problems: [String]) throws {
        var members: [(String, JSON)] = [
            ("proved", .count(found.provedCount)),
            ("missing", .list(found.missing.map { .text("\($0.lowerBound)-\($0.upperBound)") })),
        ]
        let words = "\(counted(found.provedCount, "restore point")) proved" + (opened?.words ?? "")
        members += opened?.members ?? []
        if !output.json {
            if !output.quiet { for line in opened?.lines ?? [] { try Console.output(line) } }
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
