import Foundation
import Strongroom

/// The folder of one case, with the database and what else a scenario makes.
struct Place {
    let folder: String
    var path: String { folder + "/db" }
    /// The path of the second database of scenarios that make one.
    var copy: String { folder + "/" + copyName }
    var copyName = "copy"

    /// Empties the folder, and puts the files of a model there.
    func become(_ model: Place) throws {
        try remove()
        try FileManager.default.copyItem(atPath: model.folder, toPath: folder)
    }

    func make() throws {
        try remove()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    func remove() throws {
        if FileManager.default.fileExists(atPath: folder) { try FileManager.default.removeItem(atPath: folder) }
    }

    /// Opens the database for work that survives a power cut.
    func open(_ secret: Secret, _ change: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        var configuration = try secret.configuration
        change(&configuration)
        return try .durable(path, configuration)
    }
}

extension DatabaseQueue {
    /// Opens a database whose commits survive a power cut.
    ///
    /// Not by `prepareDatabase`: a statement that reads there meets SQLCipher's faults without memory (see *Findings*).
    static func durable(_ path: String, _ configuration: Configuration) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA synchronous = EXTRA") }
        return queue
    }
}

/// Something that opens a database.
enum Secret: String {
    /// Raw keys, of the present format and of SQLCipher 3.
    case old, new, former
    /// Passphrases, cheap to derive.
    case phrase, otherPhrase
    /// Passphrases of key slots.
    case first, second

    var key: DatabaseKey {
        get throws {
            switch self {
            case .old, .former: try .rawKey([UInt8](repeating: 0xA1, count: 32))
            case .new: try .rawKey([UInt8](repeating: 0xB2, count: 32))
            case .phrase, .otherPhrase, .first, .second: .passphrase("campaign passphrase \(rawValue)")
            }
        }
    }

    var encryption: Encryption {
        get throws {
            var encryption = Encryption(key: try key, settings: self == .former ? .sqlcipher3 : .sqlcipher4)
            if ![.old, .new, .former].contains(self) { encryption.settings.kdfIterations = 1000 }
            return encryption
        }
    }

    var configuration: Configuration {
        get throws {
            var configuration = Configuration()
            configuration.encryption = try encryption
            return configuration
        }
    }

    /// Returns true if it opens the database at this moment.
    func opens(_ place: Place) -> Bool {
        guard let queue = try? DatabaseQueue(path: place.path, configuration: configuration) else { return false }
        try? queue.close()
        return true
    }

    var slot: NewKeySlot { NewKeySlot(label: rawValue, derivation: .scrypt(logN: 14, r: 8, p: 1)) }
}

/// The reported results of a database's user, kept outside of the database.
///
/// A transaction is a *batch* of rows with the same number, one more than that of the author's batch before it.
struct Ledger {
    /// A writer of the database, perhaps beside others.
    var author = "a"
    /// The last batch whose commit returned.
    var acknowledged = 0
    /// The last batch that was begun.
    var attempted = 0
    /// The outcome that a change of secrets promised when it returned: an index into those of the scenario.
    var outcome: Int?
    /// The number of batches in the second database, once that was finished.
    var copied: Int?
    /// The file in which a process that may be killed notes its results.
    var file: FileHandle?

    static let rowsPerBatch = 3

    mutating func commit(_ queue: some DatabaseWriter) throws {
        attempt(acknowledged + 1)
        let batch = attempted, author = author
        try queue.write { try Ledger.insert(batch, by: author, in: $0) }
        acknowledge(batch)
    }

    mutating func attempt(_ batch: Int) {
        attempted = batch
        try? file?.write(contentsOf: Data("attempted \(batch)\n".utf8))
    }

    mutating func acknowledge(_ batch: Int) {
        acknowledged = batch
        try? file?.write(contentsOf: Data("acknowledged \(batch)\n".utf8))
        Note.batch(batch).write()
    }

    mutating func settle(on outcome: Int) {
        self.outcome = outcome
        Note.outcome(outcome).write()
    }

    mutating func finishCopy() {
        copied = acknowledged
        Note.copy(acknowledged).write()
    }

    static func createTables(_ db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE entry (author TEXT, batch INTEGER, part INTEGER, text TEXT, PRIMARY KEY (author, \
                batch, part));
                CREATE TABLE total (author TEXT PRIMARY KEY, count INTEGER);
                CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT);
                CREATE TABLE ballast (id INTEGER PRIMARY KEY, content BLOB);
                """)
    }

    static func insert(_ batch: Int, by author: String, in db: Database) throws {
        for part in 1...rowsPerBatch {
            try db.execute(
                sql: "INSERT INTO entry VALUES (?, ?, ?, ?)",
                arguments: [author, batch, part, "campaign row " + String(repeating: "x", count: 700)])
        }
        try db.execute(
            sql: "INSERT INTO total VALUES (?1, ?2) ON CONFLICT DO UPDATE SET count = count + ?2",
            arguments: [author, rowsPerBatch])
        // Pages change that are there already.
        try db.execute(sql: "UPDATE ballast SET content = randomblob(2000) WHERE id % 4 = ?", arguments: [batch % 4])
    }
}

extension Ledger {
    /// The notes of a process from before it was killed.
    init(author: String, in folder: String) throws {
        self.author = author
        let path = folder + "/ledger-" + author
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return }
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { continue }
            if words[0] == "acknowledged" { acknowledged = number }
            attempted = max(attempted, number)
        }
    }

    /// Writes down from now on.
    mutating func open(in folder: String) throws {
        let path = folder + "/ledger-" + author
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file?.seekToEnd()
    }
}

/// A note between the changes of files, as a trace has it.
enum Note {
    case batch(Int), outcome(Int), copy(Int)

    private static let room = 1 << 20

    init(number: Int) {
        switch number / Note.room {
        case 0: self = .batch(number)
        case 1: self = .outcome(number % Note.room)
        default: self = .copy(number % Note.room)
        }
    }

    var number: Int {
        switch self {
        case .batch(let number): number
        case .outcome(let number): Note.room + number
        case .copy(let number): 2 * Note.room + number
        }
    }

    func write() { SystemCalls.note(number) }
}
