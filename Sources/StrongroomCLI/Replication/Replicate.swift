import ArgumentParser
import Foundation
import StrongroomReplica

struct Replicate: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Replicate a database to a folder or to object storage, continuously, without its key.",
        discussion: help(
            """
            FILE may be in use. No key is asked for: encrypted pages are stored as they are, with the salts and key \
            slots beside FILE. DESTINATION is a folder, or s3://BUCKET/PREFIX. Nothing is written to FILE, except that \
            its log is moved to it when it is long.

            The command runs until SIGTERM or Ctrl-C, and stores what is committed before it ends. With --json it \
            prints a line for each restore point that is durable. The key that signs restore points is in the state \
            folder; keep the public key that is printed, for restore --signer.

            --config names several databases with their destinations in a JSON file. One that fails begins again after \
            half a minute, and the others go on. systemd is notified when all destinations were found.
            """,
            statuses: [.absent, .busy, .diskFull, .unreachable]))

    static let examples = [
        (line: "strongroom replicate notes.db /mnt/backup/notes", what: "replicates until it is stopped"),
        (line: "strongroom replicate notes.db /mnt/backup/notes --once", what: "stores what is committed, and ends"),
        (line: "strongroom replicate --config /etc/strongroom/replicate.json", what: "replicates several databases"),
    ]

    @Argument(help: "A database.", completion: .file())
    var file: String?

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String?

    @OptionGroup(title: "Destination options") var place: DestinationOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Option(
        help: ArgumentHelp("Databases and destinations, as JSON, instead of FILE and DESTINATION.", valueName: "file"),
        completion: .file())
    var config: String?

    @Flag(help: "End when everything that was committed before is durable.")
    var once = false

    @Flag(help: "Begin with a full restore point.")
    var full = false

    @Option(help: ArgumentHelp("Least milliseconds between restore points. Default: 1000.", valueName: "ms"))
    var interval: Int?

    @Option(
        help: ArgumentHelp("The folder for what is kept on this machine. Default: FILE-replica.", valueName: "folder"),
        completion: .directory)
    var state: String?

    @Option(help: ArgumentHelp("The page size, until the log tells it. Default: 4096.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        help: ArgumentHelp("Keep figures in this file, in Prometheus' text format.", valueName: "file"),
        completion: .file())
    var metrics: String?

    var database: String? { file }

    func validate() throws {
        switch (config, file, destination) {
        case (nil, _?, _?): break
        case (_?, nil, nil):
            guard state == nil else { throw ValidationError("--state goes with one database; give it in --config.") }
        case (nil, _, _): throw ValidationError("replicate needs FILE and DESTINATION, or --config.")
        default: throw ValidationError("Give FILE and DESTINATION, or --config, not both.")
        }
    }

    private var options: DatabaseReplica.Options {
        var options = DatabaseReplica.Options()
        options.s3 = place.s3
        options.interval = interval ?? options.interval
        options.stateFolder = state
        options.pageSize = pageSize ?? options.pageSize
        options.beginsWithFullPoint = full
        if once { options.attempts = 5 }
        return options
    }

    func run() throws {
        let configuration = try config.map { try ReplicaConfiguration(path: $0, options) }
        let jobs = configuration?.jobs ?? [ReplicaJob(file: file!, destination: destination!, options: options)]
        for job in jobs { try requireDatabase(job.file) }
        let metrics = (metrics ?? configuration?.metrics).map { ReplicaMetrics(path: $0, jobs) }
        try Interruption.deferred { try run(jobs, metrics, $0) }
    }

    /// Refuses files that are no database before a signer or a folder is made. Without --once, the database may come
    /// later.
    private func requireDatabase(_ file: String) throws {
        guard try once || FileIdentity(Place(file).path) != nil else { return }
        let target = try Target(file)
        if once || target.inspection.kind != .empty { try target.requireDatabase() }
    }

    private func run(_ jobs: [ReplicaJob], _ metrics: ReplicaMetrics?, _ interruption: Interruption) throws {
        let (output, once) = (output, once), isPersistent = config != nil && !once
        let service = ReplicaService(jobs, isPersistent: isPersistent, metrics: metrics) { event, job in
            Self.show(event, job.file, output)
        }
        service.run { once || interruption.isRequested }
        let failures = jobs.indices.compactMap { service.failures[$0] }
        guard failures.count < 2 else {
            for failure in failures { Console.message("strongroom: \(failure)") }
            throw ReportedError(status: Status.worst(of: failures.map(\.status)))
        }
        if let failure = failures.first { throw failure }
        guard !output.json else { return }
        for (index, job) in jobs.enumerated() {
            let position = service.positions[index].map { "position \($0)" } ?? "nothing to store"
            try output.done(Self.self, job.file, text: "\(job.file): everything is durable, \(position).")
        }
    }

    private static func show(_ event: ReplicaEvent, _ file: String, _ output: OutputOptions) {
        switch event {
        case .started(let signer, let continues):
            let members: [(String, JSON)] = [("signer", .text("\(signer)")), ("continues", .bool(continues))]
            try? output.done(
                Self.self, file, [("event", .text("started"))] + members, text: "\(file): signed by \(signer).")
        case .durable(let point):
            try? output.done(
                Self.self, file, [("event", .text("durable"))] + point.members,
                text: "\(file): position \(point.position) is durable, \(ReplicaTime.text(point.milliseconds)).")
        case .failing(let error): Console.warning("\(file): \(error)")
        case .recovered: Console.message("strongroom: \(file): the destination answers again.")
        case .stopped: break
        }
    }
}
