// What the guides' programs take for granted: an application with its databases, records and variables.
// A program's own declarations come before these.

import Foundation
import GRDB

// MARK: - Databases

/// Each program runs in an empty folder of its own.
let dbPath = "application.sqlite"
let path = "application.sqlite"

let configuration: Configuration = {
    var configuration = Configuration()
    configuration.prepareDatabase { db in try protect(db) }
    return configuration
}()

private func open<Writer: DatabaseWriter>(_ writer: Writer) throws -> Writer {
    if ProcessInfo.processInfo.environment["EMPTY_DATABASES"] == nil { try writer.write(makeSchema) }
    return writer
}

let dbQueue = try! open(DatabaseQueue(path: "queue.sqlite", configuration: configuration))
let dbPool = try! open(DatabasePool(path: "pool.sqlite", configuration: configuration))
let dbWriter: any DatabaseWriter = dbPool
let writer: any DatabaseWriter = dbPool
let reader: any DatabaseReader = dbPool
let dbReader: any DatabaseReader = dbPool

/// What `db` is outside of accesses: another database, whose access the program runs in.
private let accessed = try! open(DatabaseQueue(path: "accessed.sqlite", configuration: configuration))
nonisolated(unsafe) private(set) var db: Database! = nil

func withAccess(_ body: () -> Void) {
    accessed.inDatabase { database in
        db = database
        body()
    }
}

var migrator = DatabaseMigrator()

// MARK: - Records

struct Author: Codable, FetchableRecord, MutablePersistableRecord, Identifiable, Hashable {
    var id: Int64?
    var name: String
    var countryCode: String?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let countryCode = Column(CodingKeys.countryCode)
    }

    static let books = hasMany(Book.self)
    static let country = belongsTo(Country.self)
    var books: QueryInterfaceRequest<Book> { request(for: Author.books) }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Book: Codable, FetchableRecord, MutablePersistableRecord, Identifiable, Hashable {
    enum Kind: String, Codable, DatabaseValueConvertible { case novel, essay, poetry }

    var id: Int64?
    var authorId: Int64?
    var title: String
    var kind: Kind?
    var year: Int?
    var price: Double?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let authorId = Column(CodingKeys.authorId)
        static let title = Column(CodingKeys.title)
        static let kind = Column(CodingKeys.kind)
        static let year = Column(CodingKeys.year)
        static let price = Column(CodingKeys.price)
    }

    static let author = belongsTo(Author.self)
    static let coverImage = hasOne(CoverImage.self)
    var author: QueryInterfaceRequest<Author> { request(for: Book.author) }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct CoverImage: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var bookId: Int64
    var path: String
}

struct Country: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    var code: String
    var name: String
    var id: String { code }

    enum Columns {
        static let code = Column(CodingKeys.code)
        static let name = Column(CodingKeys.name)
    }

    static let citizenships = hasMany(Citizenship.self)
    static let citizens = hasMany(Person.self, through: citizenships, using: Citizenship.person)
}

struct Person: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?
    var name: String
    var email: String?

    static let citizenships = hasMany(Citizenship.self)
    static let countries = hasMany(Country.self, through: citizenships, using: Citizenship.country)

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Citizenship: Codable, FetchableRecord, PersistableRecord {
    var countryCode: String
    var personId: Int64

    enum Columns {
        static let countryCode = Column(CodingKeys.countryCode)
        static let personId = Column(CodingKeys.personId)
    }

    static let person = belongsTo(Person.self)
    static let country = belongsTo(Country.self)
}

struct Team: Codable, FetchableRecord, MutablePersistableRecord, Identifiable, Hashable {
    var id: Int64?
    var name: String
    var color: String?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let color = Column(CodingKeys.color)
    }

    static let players = hasMany(Player.self)
    static let awards = hasMany(Award.self)
    var players: QueryInterfaceRequest<Player> { request(for: Team.players) }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Award: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var teamId: Int64?
    var playerId: Int64?
    var name: String
}

struct Player: Codable, FetchableRecord, PersistableRecord, Identifiable, Hashable {
    var id: Int64?
    var name: String
    var score = 0
    var email: String?
    var bonus: Int?
    var height: Double?
    var isVerified: Bool? = false
    var teamId: Int64?
    var creationDate: Date?

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let name = Column(CodingKeys.name)
        static let score = Column(CodingKeys.score)
        static let email = Column(CodingKeys.email)
        static let bonus = Column(CodingKeys.bonus)
        static let height = Column(CodingKeys.height)
        static let isVerified = Column(CodingKeys.isVerified)
        static let firstName = Column("firstName")
        static let lastName = Column("lastName")
        static let maxScore = Column("maxScore")
        static let teamId = Column(CodingKeys.teamId)
        static let creationDate = Column(CodingKeys.creationDate)
    }

    static let team = belongsTo(Team.self)
    static let awards = hasMany(Award.self)
    var team: QueryInterfaceRequest<Team> { request(for: Player.team) }
}

struct Place: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?
    var title: String
    var isFavorite: Bool
    var latitude: Double
    var longitude: Double

    var coordinate: CLLocationCoordinate2D {
        get { CLLocationCoordinate2D(latitude: latitude, longitude: longitude) }
        set { (latitude, longitude) = (newValue.latitude, newValue.longitude) }
    }

    init(id: Int64? = nil, title: String, isFavorite: Bool, coordinate: CLLocationCoordinate2D) {
        (self.id, self.title, self.isFavorite) = (id, title, isFavorite)
        (latitude, longitude) = (coordinate.latitude, coordinate.longitude)
    }

    enum Columns {
        static let id = Column(CodingKeys.id)
        static let title = Column(CodingKeys.title)
        static let isFavorite = Column(CodingKeys.isFavorite)
        static let name = Column("name")
        static let latitude = Column(CodingKeys.latitude)
        static let longitude = Column(CodingKeys.longitude)
    }

    mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Document: Codable, FetchableRecord, MutablePersistableRecord {
    var id: Int64?
    var title: String?
    var body: String?
    var content: String

    enum Columns {
        static let content = Column(CodingKeys.content)
    }
}

struct Credit: Codable, FetchableRecord, PersistableRecord {
    var destinationAccount: String
    var amount: Int

    init(_ destinationAccount: String, _ amount: Int) {
        (self.destinationAccount, self.amount) = (destinationAccount, amount)
    }
}

struct Debit: Codable, FetchableRecord, PersistableRecord {
    var sourceAccount: String
    var amount: Int

    init(_ sourceAccount: String, _ amount: Int) {
        (self.sourceAccount, self.amount) = (sourceAccount, amount)
    }
}

struct Chat: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?

    static let messages = hasMany(Message.self)
}

struct Message: Codable, FetchableRecord, MutablePersistableRecord, Identifiable {
    var id: Int64?
    var chatId: Int64?
    var date: Date?
    var text: String?
}

struct Captain: Codable, FetchableRecord, MutablePersistableRecord { var id: Int64? }
struct Employee: Codable, FetchableRecord, MutablePersistableRecord { var id: Int64? }
struct Planet: Codable, FetchableRecord, MutablePersistableRecord { var id: Int64? }
struct AppConfiguration: Codable, FetchableRecord, PersistableRecord { var flag: Bool }

// MARK: - Values

struct CLLocationCoordinate2D {
    var latitude: CLLocationDegrees
    var longitude: CLLocationDegrees
}

typealias CLLocationDegrees = Double
struct ValidationError: Error { var message = "" }
struct TextField { var text: String? }
struct SomeError: Error {}

// MARK: - Variables

var player = Player(id: 1, name: "Arthur", score: 100)
var author = Author(id: 1, name: "Herman Melville", countryCode: "US")
var book = Book(id: 1, authorId: 1, title: "Moby-Dick")
var place = Place(
    id: 1, title: "Paris", isFavorite: true, coordinate: CLLocationCoordinate2D(latitude: 48.8, longitude: 2.3))
var team = Team(id: 1, name: "Reds", color: "Red")
var row: Row = ["id": 1, "name": "Arthur", "score": 100, "email": "arthur@example.com", "date": "2026-01-01"]
var textField = TextField(text: "one ring")
/// For columns that are shown without their table.
nonisolated(unsafe) var t: TableDefinition! = nil
var observer: any TransactionObserver = Observer()
let id: Int64 = 1
let name = "Arthur"
let amount = 100
let sourceAccount = "A", destinationAccount = "B"
var players = [player]
var cancellable = AnyDatabaseCancellable(cancel: {})

final class Observer: TransactionObserver {
    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}

func getPassphrase() throws -> String { "passphrase" }
func getPassphraseData() throws -> Data { Data("passphrase".utf8) }
func loadPassphraseFromSystemKeychain() throws -> String { "passphrase" }
func myFunction() {}

/// Where a guide has "Player(...)".
extension Player { init(_ leftOut: Never) { switch leftOut {} } }
extension Author { init(_ leftOut: Never) { switch leftOut {} } }
extension Book { init(_ leftOut: Never) { switch leftOut {} } }
extension Place { init(_ leftOut: Never) { switch leftOut {} } }
