import CNotes
import Foundation
import Notes
import Strongroom

/// The database of the requests.
protocol NotesStore: Sendable {
    /// Returns when the note is committed. A note with the same id stays as it is.
    func add(_ note: Note) async throws
    func find(_ id: String) async throws -> Note?
}

/// The database of Strongroom.
struct PoolStore: NotesStore {
    let service: DatabaseService<DatabasePool>

    func add(_ note: Note) async throws {
        try await service.database.write { db in
            try note.insert(db, onConflict: .ignore)
        }
    }

    func find(_ id: String) async throws -> Note? {
        try await service.database.read { db in try Note.fetchOne(db, key: id) }
    }
}

/// A database in plain C, for the comparison of latencies.
///
/// Sendable because the lock gives the connection to one thread at a time.
final class PlainStore: NotesStore, @unchecked Sendable {
    private let lock = NSLock()
    private let notes: OpaquePointer

    init?(path: String) {
        let key = "x'" + String(repeating: "2a", count: 32) + "'"
        guard let notes = cnotes_open(path, key) else { return nil }
        self.notes = notes
    }

    deinit { cnotes_close(notes) }

    func add(_ note: Note) async throws {
        let code = lock.withLock { cnotes_add(notes, note.id, note.text) }
        if code != 0 { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    func find(_ id: String) async throws -> Note? {
        guard let text = lock.withLock({ cnotes_find(notes, id) }) else { return nil }
        defer { free(text) }
        return Note(id: id, author: "client", text: String(cString: text))
    }
}
