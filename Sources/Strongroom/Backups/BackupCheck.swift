import Foundation

/// The outcome of a check of a backup.
public struct BackupCheck: Sendable, Equatable {
    /// The state of a backup.
    public enum Outcome: String, Sendable, CaseIterable {
        /// No problem was found.
        case intact
        /// A page or a file is not what was written.
        case damaged
    }

    /// The key that opens a backup.
    public enum Key: String, Sendable, CaseIterable {
        /// The present key of the database.
        case current
        /// A former key of the database.
        case former
        /// None of the keys that were given.
        case unrecognized = "unknown"
    }

    /// The time of the check.
    public let date: Date
    /// The state of the backup.
    public let outcome: Outcome
    /// The key that opens the backup. Nil if no key was given: then the check compared the files with the SHA-256 in
    /// the record. That finds damage, but not a change by a person who can write the record.
    public let key: Key?
    /// The problems, one line each. Not stored with the backup.
    public var problems: [String] = []

    /// The keys that may open a backup.
    public struct Keys: Sendable {
        /// The present encryption of the database. A managed key also stands for the former keys of its store.
        public var current: Encryption
        /// Former encryptions of the database.
        public var former: [Encryption]

        /// Creates keys. Default: no former ones.
        public init(current: Encryption, former: [Encryption] = []) {
            (self.current, self.former) = (current, former)
        }
    }

    static let fileName = "strongroom-check"
    static let partialName = fileName + "-new"
    private static let title = "Strongroom check 1"

    /// Returns the last check of the backup in a folder. Nil if there was none.
    static func read(in folder: String) -> BackupCheck? {
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = NamedFile.read(folder + "/" + fileName, settled: false, into: &bytes)
        return count > 0 ? BackupCheck(text: Array(bytes.prefix(Int(count)))) : nil
    }

    /// Replaces the last check of the backup whose database is at `path`.
    func write(besides path: String) throws {
        let folder = NamedFile.folder(of: path), partial = folder + "/" + Self.partialName
        let descriptor = ScratchFile.open(partial, like: path)
        guard descriptor >= 0 else { throw CopyStaging.failure("write the check of \(path)", -descriptor) }
        defer { ScratchFile.close(descriptor, partial) }
        let error = ScratchFile.publish(descriptor, partial, as: folder + "/" + Self.fileName, like: path, text)
        guard error == 0 else { throw CopyStaging.failure("write the check of \(path)", error) }
    }

    private var text: [UInt8] {
        let lines = [
            Self.title, "date \(date.formatted(.iso8601))", "outcome \(outcome.rawValue)",
            "key \(key?.rawValue ?? "none")",
        ]
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    private init?(text: [UInt8]) {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count == 4, lines[0].joined(separator: " ") == Self.title,
            lines.dropFirst().allSatisfy({ $0.count == 2 }), lines[1][0] == "date", lines[2][0] == "outcome",
            lines[3][0] == "key", let date = try? Date(String(lines[1][1]), strategy: .iso8601),
            let outcome = Outcome(rawValue: String(lines[2][1]))
        else { return nil }
        (self.date, self.outcome, key) = (date, outcome, Key(rawValue: String(lines[3][1])))
    }

    init(_ outcome: Outcome, _ key: Key?, _ problems: [String] = []) {
        // As it is read again: without a fraction of a second.
        date = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        (self.outcome, self.key, self.problems) = (outcome, key, problems)
    }
}
