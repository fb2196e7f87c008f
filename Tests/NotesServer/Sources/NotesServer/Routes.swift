import Foundation
import Hummingbird
import Notes
import ServiceLifecycle
import Strongroom

/// A note as a client gets it.
struct NoteAnswer: ResponseEncodable {
    let id: String
    let author: String
    let text: String
}

/// A note as a client sends it.
struct NewNote: Decodable, Sendable {
    let id: String
    let text: String
}

/// The routes of the server.
struct Routes {
    let store: any NotesStore

    /// Nil beside plain C.
    let service: DatabaseService<DatabasePool>?

    func router() -> Router<BasicRequestContext> {
        let router = Router()
        router.post("notes") { request, context in
            let new = try await request.decode(as: NewNote.self, context: context)
            try await answering { try await store.add(Note(id: new.id, author: "client", text: new.text)) }
            return HTTPResponse.Status.created
        }
        router.get("notes/:id") { _, context in
            let id = try context.parameters.require("id")
            guard let note = try await answering({ try await store.find(id) }) else { throw HTTPError(.notFound) }
            return NoteAnswer(id: note.id, author: note.author, text: note.text)
        }
        router.get("health") { _, _ in health() }
        if let service {
            router.get("statistics") { _, _ in try await statistics(of: service) }
            router.get("events") { _, _ in try await events(of: service) }
        }
        return router
    }

    /// Returns the state of the database: 200 when it can be read and written, 503 otherwise.
    private func health() -> Response {
        let health = service.map { $0.health?.rawValue ?? "opening" } ?? "ready"
        return Response(
            status: health == "ready" ? .ok : .serviceUnavailable,
            body: ResponseBody(byteBuffer: ByteBuffer(string: health + "\n")))
    }

    private func statistics(of service: DatabaseService<DatabasePool>) async throws -> String {
        let statistics = try await service.database.statistics
        return """
            reads \(statistics.reads.count)
            writes \(statistics.writes.count)
            commits \(statistics.commits)
            log \(statistics.logSize)

            """
    }

    /// Sends the number of notes after each commit, of this process and of others, as server-sent events.
    private func events(of service: DatabaseService<DatabasePool>) async throws -> Response {
        let pool = try await service.database
        let counts = ValueObservation.tracking { db in try Note.fetchCount(db) }.values(in: pool)
        let body = ResponseBody { writer in
            for try await count in counts.cancelOnGracefulShutdown() {
                try await writer.write(ByteBuffer(string: "data: \(count)\n\n"))
            }
            try await writer.finish(nil)
        }
        return Response(status: .ok, headers: [.contentType: "text/event-stream"], body: body)
    }

    /// Runs an access. A database that is not available is an answer, which the client may repeat later.
    private func answering<T>(_ access: () async throws -> T) async throws -> T {
        do {
            return try await access()
        } catch let error as DatabaseError where error.isTemporary {
            throw HTTPError(.serviceUnavailable, message: "the database is not available")
        }
    }
}

extension DatabaseError {
    /// True if the request may succeed elsewhere or later.
    fileprivate var isTemporary: Bool {
        reason == .closed || reason == .stoppedWhileOpening || isInterruptionError || resultCode == .SQLITE_BUSY
            || resultCode == .SQLITE_FULL
    }
}
