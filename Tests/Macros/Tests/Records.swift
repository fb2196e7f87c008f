import Foundation
import Strongroom

enum Kind: String, Codable, DatabaseValueConvertible { case letter, invoice }

@DatabaseRecord
struct Address: Equatable {
    var street: String
    @DatabaseColumn("zip_code") var code: Int?
}

/// All kinds of columns.
@DatabaseRecord(table: "documents")
struct Document: Equatable {
    var id: Int64?
    @DatabaseColumn("document_title") var title: String
    var kind: Kind
    var rating: Double?
    var pages = 1
    @DatabaseColumn(dates: .iso8601) var created: Date
    @DatabaseColumn(dates: .secondsSince1970) var opened: Date?
    @DatabaseColumn(prefix: "from_") var sender: Address
    @DatabaseColumn(json: true) var tags: [String]
    @DatabaseColumn(json: true) var notes: [String: Int]?
    @DatabaseColumn(prefix: "to_") var receiver: Address?
    var uuid: UUID, data: Data
    @NoDatabaseColumn var isSelected = false
    var isLong: Bool { pages > 100 }
    static let limit = 100
    var `default`: Bool {
        didSet { isSelected = true }
    }

    static let table = """
        CREATE TABLE documents (
            id INTEGER PRIMARY KEY, document_title TEXT, kind TEXT, rating REAL, pages INTEGER, created TEXT, opened,
            from_street TEXT, from_zip_code INTEGER, tags TEXT, notes TEXT, to_street TEXT, to_zip_code INTEGER,
            uuid BLOB, data BLOB, "default" INTEGER)
        """

    static func sample(_ n: Int) -> Document {
        Document(
            title: "Document \(n)", kind: n % 2 == 0 ? .letter : .invoice, rating: n % 3 == 0 ? nil : Double(n) / 4,
            pages: n, created: Date(timeIntervalSince1970: 1_700_000_000 + Double(n)),
            opened: n % 2 == 0 ? nil : Date(timeIntervalSince1970: Double(n)),
            sender: Address(street: "Street \(n)", code: n % 2 == 0 ? nil : n), tags: ["a", "\(n)"],
            notes: n % 3 == 0 ? nil : ["n": n], receiver: n % 2 == 0 ? nil : Address(street: "To \(n)", code: n),
            uuid: UUID(), data: Data([UInt8(n)]), default: n % 2 == 0)
    }
}

/// An object that receives its id.
@DatabaseRecord
final class Author {
    var id: Int64?
    var name: String

    init(name: String) { self.name = name }
}

/// Without a key.
@DatabaseRecord
struct Tag: Codable, Equatable {
    let name: String
    let count: Int
}

@DatabaseRecord
struct Book: Equatable {
    static let author = belongsTo(Author.self)
    var id: Int64?
    var title: String
    var authorId: Int64?
}

extension Author {
    static let books = hasMany(Book.self)
}

/// The callback of the program's own is the one that is called.
@DatabaseRecord
struct Counted {
    var id: Int64?
    @NoDatabaseColumn var insertions = 0

    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        insertions += 1
    }
}
