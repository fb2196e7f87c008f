import Foundation
import Hummingbird
import Logging
import Notes
import ServiceLifecycle
import Strongroom

/// A server of notes over HTTP: `NotesServer PATH [plain-c]`.
///
/// It listens on a free port of the loopback interface, and prints `listening on PORT`. `SIGTERM` and `SIGINT` stop it.
/// `plain-c` replaces the database by plain C, for the comparison of latencies.
@main
struct NotesServer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 2 else { exit(2) }
        let path = arguments[1]
        if arguments.last == "plain-c" {
            guard let store = PlainStore(path: path) else { exit(1) }
            return try await serve(Routes(store: store, service: nil), [])
        }
        let service = DatabaseService(shutdownLimit: 5) {
            try NotesDatabase.open(path: path, NotesDatabase.configuration(path: path))
        }
        try await serve(Routes(store: PoolStore(service: service), service: service), [service])
    }

    private static func serve(_ routes: Routes, _ databases: [any Service]) async throws {
        var logger = Logger(label: "notes")
        logger.logLevel = .error
        var server = Application(
            router: routes.router(),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in report("listening on \(channel.localAddress?.port ?? 0)") },
            logger: logger)
        server.services = []
        // Stopped in the opposite order: the database ends when the last request has ended.
        var configuration = ServiceGroupConfiguration(
            services: databases + [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(20)
        try await ServiceGroup(configuration: configuration).run()
    }
}
