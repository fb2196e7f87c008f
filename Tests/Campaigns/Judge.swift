import Foundation
import Strongroom
import TestSupport

/// A state that must not occur.
struct Finding: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Opens what a case left, and compares it with the results that the user got.
struct Judge {
    let scenario: Scenario
    let place: Place
    let ledger: Ledger
    /// Of other processes that wrote to the database at the same time.
    var others: [Ledger] = []
    /// True to ask the stock `sqlcipher` shell, too.
    var asksShell = false

    /// - parameter isDurable: false after a power cut of a scenario whose commits need not survive one.
    func judge(isDurable: Bool = true) throws {
        let opened = try Set(scenario.secrets.filter { try opens($0, place.path) })
        guard allowed.contains(opened) else {
            throw Finding("opened by \(names(opened)), and not by one of \(allowed.map(names))")
        }
        let authors = ([ledger] + others).map { $0.range(isDurable: isDurable) }
        try judgeContent(place.path, opened.first!, authors)
        try judgeCopy()
        try scenario.judge(place, ledger)
        guard try !DatabaseFile.inspect(path: place.path).isRotationPending else {
            throw Finding("a rotation is still pending")
        }
        guard asksShell else { return }
        try StockShell(path: place.path, secret: opened.first!).check(authors[0])
    }

    private func names(_ secrets: Set<Secret>) -> String { secrets.map(\.rawValue).sorted().joined(separator: " and ") }

    private var allowed: [Set<Secret>] { ledger.outcome.map { [scenario.outcomes[$0]] } ?? scenario.outcomes }

    private func opens(_ secret: Secret, _ path: String) throws -> Bool {
        do {
            let queue = try DatabaseQueue(path: path, configuration: secret.configuration)
            try queue.close()
            return true
        } catch let error as DatabaseError where error.isWrongKeyError {
            return false
        } catch {
            throw Finding("\(path) does not open with \(secret): \(error)")
        }
    }

    // MARK: - Content

    private func judgeContent(_ path: String, _ secret: Secret, _ authors: [AuthorRange]) throws {
        let queue = try DatabaseQueue(path: path, configuration: secret.configuration)
        try queue.read { db in
            guard try db.tableExists("entry") else {
                guard authors.allSatisfy({ $0.batches.lowerBound == 0 }) else {
                    throw Finding("\(path): the tables are gone")
                }
                return
            }
            for author in authors { try judgeBatches(db, path, author) }
        }
        let report = try queue.checkIntegrity()
        guard report.isIntact else { throw Finding("\(path): \(report)") }
        try queue.close()
    }

    private func judgeBatches(_ db: Database, _ path: String, _ author: AuthorRange) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT batch, count(*) AS parts FROM entry WHERE author = ? GROUP BY batch ORDER BY batch",
            arguments: [author.name])
        let found: [Int] = rows.map { $0["batch"] }
        for row in rows where (row["parts"] as Int) != Ledger.rowsPerBatch {
            throw Finding("\(path): a torn transaction of \(author.name): \(row)")
        }
        guard found == Array(1..<found.count + 1), author.batches.contains(found.count) else {
            throw Finding("\(path): batches \(found) of \(author.name), and not 1 to \(author.batches)")
        }
        let total = try Int.fetchOne(db, sql: "SELECT count FROM total WHERE author = ?", arguments: [author.name])
        guard (total ?? 0) == found.count * Ledger.rowsPerBatch else {
            throw Finding("\(path): \(total ?? 0) rows of \(author.name) in total")
        }
    }

    /// The second database is not there, empty, or whole.
    private func judgeCopy() throws {
        guard let secret = scenario.copySecret else { return }
        let size = (try? FileManager.default.attributesOfItem(atPath: place.copy)[.size] as? Int) ?? nil
        guard let size, size > 0 else {
            guard ledger.copied == nil else { throw Finding("the finished copy is gone") }
            return
        }
        guard try opens(secret, place.copy) else { throw Finding("the copy does not open with \(secret)") }
        try judgeContent(
            place.copy, secret, [AuthorRange(name: ledger.author, batches: (ledger.copied ?? 0)...ledger.attempted)])
    }
}

/// The batches of an author that may be there.
struct AuthorRange {
    let name: String
    let batches: ClosedRange<Int>
}

extension Ledger {
    func range(isDurable: Bool) -> AuthorRange {
        let least = isDurable ? acknowledged : 0
        return AuthorRange(name: author, batches: least...max(least, attempted))
    }
}

extension StockShell {
    /// With the secret, and the set-up that its database needs.
    init(path: String, secret: Secret) throws {
        self.init(path: path, keying: try secret.statements(for: path))
    }

    /// Checks the pages, the structure, and the number of an author's batches.
    func check(_ author: AuthorRange) throws {
        let batches = author.batches.lowerBound
        let lines = try lines(
            """
            PRAGMA cipher_integrity_check;
            PRAGMA integrity_check;
            SELECT count(DISTINCT batch) FROM entry WHERE author = '\(author.name)';
            """)
        // Before its first transaction, a database has no tables.
        guard lines.first == "ok", batches == 0 || Int(lines.last ?? "") ?? -1 >= batches else {
            throw Finding("the stock shell says \(lines)")
        }
    }
}

extension Secret {
    /// The statements that set the key of a database: of key slots, the data key.
    func statements(for path: String) throws -> String {
        let header = try DatabaseFile.inspect(path: path)
        switch self {
        case .old, .new:
            let digits = String(repeating: self == .old ? "a1" : "b2", count: 32)
            return "PRAGMA key = \"x'\(digits)'\";" + (try plaintextHeader(path))
        case .former:
            return "PRAGMA key = \"x'\(String(repeating: "a1", count: 32))'\"; PRAGMA cipher_compatibility = 3;"
        case .first, .second:
            if !header.hasSlotFile { break }
            let slots = try KeySlots.open(path: path, encryption: encryption)
            return try slots.withDataKeyAndSalt { "PRAGMA key = \"x'\($0.map { hex($0) }.joined())'\";" }
        case .phrase, .otherPhrase: break
        }
        let passphrase = "PRAGMA key = 'campaign passphrase \(rawValue)'; PRAGMA kdf_iter = 1000;"
        return passphrase + (try plaintextHeader(path))
    }

    /// The last salt in the file beside a database with a plaintext header.
    private func plaintextHeader(_ path: String) throws -> String {
        guard let text = try? String(contentsOfFile: path + "-salt", encoding: .utf8) else { return "" }
        func last(_ word: String) -> Substring {
            text.split(separator: "\n").last { $0.hasPrefix(word + " ") }?.dropFirst(word.count + 1) ?? ""
        }
        guard try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 6) == Data("SQLite".utf8)
        else { return "" }
        return " PRAGMA cipher_plaintext_header_size = \(last("header")); PRAGMA cipher_salt = \"x'\(last("salt"))'\";"
    }

    private func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
