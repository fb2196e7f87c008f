import Foundation
import Strongroom

/// A notebook has a name of its own, and notes.
struct Notebook: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var name: String

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

/// A note belongs to a notebook. Its tags are one column, as JSON.
struct Note: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var notebookID: Int64
    var text: String
    var tags: [String]
    var isPinned = false
    var modified: Date

    enum Columns {
        static let notebookID = Column(CodingKeys.notebookID)
        static let text = Column(CodingKeys.text)
        static let isPinned = Column(CodingKeys.isPinned)
        static let modified = Column(CodingKeys.modified)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
    }
}

/// The number of notes in a notebook.
struct NotebookSummary: Codable, Equatable, FetchableRecord {
    var name: String
    var noteCount: Int

    /// All notebooks, by name.
    static func all() -> SQLRequest<NotebookSummary> {
        """
        SELECT notebook.name, COUNT(note.id) AS noteCount
        FROM notebook LEFT JOIN note ON note.notebookID = notebook.id
        GROUP BY notebook.id
        ORDER BY notebook.name
        """
    }
}
