import Foundation
import Logging
import Notes
import ServiceLifecycle
import Strongroom

/// A worker that writes to the database of the server, in a process of its own: `NotesWorker PATH NAME MILLISECONDS`.
///
/// It prints the id of each note that is committed, until `SIGTERM`.
@main
struct NotesWorker {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let pause = UInt64(arguments[3]) else { exit(2) }
        let (path, name) = (arguments[1], arguments[2])
        let service = DatabaseService {
            try NotesDatabase.open(path: path, NotesDatabase.configuration(path: path))
        }
        let work = Work(database: service, name: name, pause: pause * 1_000_000)
        let logger = Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
        try await ServiceGroup(services: [service, work], gracefulShutdownSignals: [.sigterm], logger: logger).run()
    }
}

/// The work, which ends before its database does.
private struct Work: Service {
    let database: DatabaseService<DatabasePool>
    let name: String

    /// The pause between two notes, in nanoseconds.
    let pause: UInt64

    func run() async throws {
        await cancelWhenGracefulShutdown {
            do { try await write() } catch { fail(unlessStopped: error) }
        }
    }

    private func write() async throws {
        let pool = try await database.database
        for number in 1... {
            let note = Note(id: "\(name)-\(number)", author: name, text: "Written by the worker")
            try await pool.write { db in try note.insert(db, onConflict: .ignore) }
            report(note.id)
            try await Task.sleep(nanoseconds: pause)
        }
    }

    private func fail(unlessStopped error: any Error) {
        if error is CancellationError { return }
        report("failed: \(error)")
        exit(1)
    }
}
