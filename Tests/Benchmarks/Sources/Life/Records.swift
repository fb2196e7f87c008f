import Foundation
import Workload

struct Notebook: Codable, FetchableRecord, TableRecord, Sendable {
    static let notes = hasMany(Note.self)

    var id: Int64
    var name: String
}

struct Author: Codable, FetchableRecord, TableRecord, Sendable {
    var id: Int64
    var name: String
}

struct NoteTag: TableRecord {}

struct Note: Codable, Identifiable, FetchableRecord, PersistableRecord, Sendable {
    static let notebook = belongsTo(Notebook.self)
    static let author = belongsTo(Author.self)
    static let tags = hasMany(NoteTag.self)
    static let latest = order(Column("updatedAt").desc)

    var id: Int64
    var notebookId, authorId: Int64
    var title, body: String
    var createdAt, updatedAt: Date
    var isFavorite: Bool
}

/// A line of the list of notes.
struct NoteLine: Decodable, FetchableRecord, Sendable {
    static let latest = Note.latest
        .including(required: Note.notebook)
        .including(required: Note.author)
        .annotated(with: Note.tags.count.forKey("tagCount"))
        .asRequest(of: NoteLine.self)

    var note: Note
    var notebook: Notebook
    var author: Author
    var tagCount: Int
}

/// A notebook in the list of all, with the number of its notes.
struct NotebookLine: Decodable, FetchableRecord, Sendable {
    static let all = Notebook.order(Column("name"))
        .annotated(with: Notebook.notes.count.forKey("noteCount"))
        .asRequest(of: NotebookLine.self)

    var notebook: Notebook
    var noteCount: Int
}

struct Contact: Codable, PersistableRecord, Sendable {
    var name, email, city: String
    var phone: String?
    var createdAt: Date

    init(_ n: Int) {
        name = "First Last no. \(n)"
        email = "first.last.\(n)@example.com"
        city = "City \(n % 1_000)"
        phone = n % 3 == 0 ? nil : "+49 30 \(1_000_000 + n)"
        createdAt = Date(timeIntervalSince1970: 1_700_000_000 + Double(n))
    }
}
