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
            """,
            statuses: [.absent, .busy, .diskFull, .unreachable]))

    static let examples = [
        (line: "strongroom replicate notes.db /mnt/backup/notes", what: "replicates until it is stopped"),
        (line: "strongroom replicate notes.db /mnt/backup/notes --once", what: "stores what is committed, and ends"),
    ]

    @Argument(help: "A database.", completion: .file())
    var file: String

    @Argument(help: "A folder, or s3://BUCKET/PREFIX.", completion: .directory)
    var destination: String

    @OptionGroup(title: "Destination options") var place: DestinationOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

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

    var database: String? { file }

    func run() throws {
        let found = try Place(file)
        if once, !FileManager.default.fileExists(atPath: found.path) { throw Failure.absent(file) }
        var options = DatabaseReplica.Options()
        options.s3 = place.s3
        options.interval = interval ?? options.interval
        options.stateFolder = state
        options.pageSize = pageSize ?? options.pageSize
        options.beginsWithFullPoint = full
        if once { options.attempts = 5 }
        let replica = try replicating { try DatabaseReplica(path: found.path, to: destination, options: options) }
        try Interruption.deferred { try follow(replica, $0) }
    }

    private func follow(_ replica: DatabaseReplica, _ interruption: Interruption) throws {
        let ended = DispatchSemaphore(value: 0), printed = DispatchSemaphore(value: 0), outcome = Outcome()
        let (output, file, once) = (output, file, once)
        replica.start()
        Task {
            for await event in replica.events {
                Self.show(event, file, output)
                if case .stopped = event { ended.signal() }
            }
            printed.signal()
        }
        if !once {
            while !interruption.isRequested, ended.wait(timeout: .now() + 0.1) == .timedOut {}
        }
        Task {
            do {
                outcome.position = try await replica.stop()
            } catch {
                outcome.error = error as? ReplicaError
            }
            outcome.isKnown.signal()
        }
        outcome.isKnown.wait()
        printed.wait()
        if let error = outcome.error { throw Failure(error) }
        let position = outcome.position.map { "position \($0)" } ?? "nothing to store"
        if !output.json { try output.done(Self.self, file, text: "\(file): everything is durable, \(position).") }
    }

    /// The end of a replica, which one task writes before it signals.
    private final class Outcome: @unchecked Sendable {
        let isKnown = DispatchSemaphore(value: 0)
        var position: ReplicaPosition?
        var error: ReplicaError?
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
