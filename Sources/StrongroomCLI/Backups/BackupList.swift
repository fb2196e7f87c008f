import Foundation
import Strongroom

/// One dated copy, as `strongroom backups` shows it.
struct BackupLine: CustomStringConvertible {
    let backup: DatabaseBackup
    /// The last check, also if it could not be stored.
    let check: BackupCheck?
    /// The key that opens it. Nil if none was tried.
    let key: BackupCheck.Key?
    /// True if a rule would forget it. Nil without a rule.
    let isForgotten: Bool?
    /// The age in seconds. Negative for a date in the future.
    let age: Double

    /// False if a file is missing or cut off, or the last check found damage.
    var isGood: Bool { backup.isComplete && check?.outcome != .damaged }

    init(_ backup: DatabaseBackup, check: BackupCheck?, key: BackupCheck.Key?, isForgotten: Bool?) {
        (self.backup, self.check, self.key, self.isForgotten) = (backup, check, key, isForgotten)
        age = Date().timeIntervalSince(backup.date)
    }

    private var version: Int? {
        var settings = backup.settings
        let formats: [(Int, CipherSettings)] = [
            (4, .sqlcipher4), (3, .sqlcipher3), (2, .sqlcipher2), (1, .sqlcipher1),
        ]
        return formats.first {
            settings.pageSize = $0.1.pageSize
            return settings == $0.1
        }?.0
    }

    private var format: String {
        let slots = backup.keySlotCount > 0 ? ", \(counted(backup.keySlotCount, "slot"))" : ""
        let header = backup.plaintextHeaderSize > 0 ? ", plaintext header" : ""
        return (version.map { "SQLCipher \($0)" } ?? "own settings") + header + slots
    }

    private var state: String {
        guard backup.isComplete else { return "incomplete" }
        guard let check else { return "never checked" }
        return "\(check.outcome.rawValue) \(check.date.formatted(.iso8601))"
    }

    var description: String {
        let parts = [
            backup.date.formatted(.iso8601), (backup.isDatedInFuture ? "future" : duration(max(0, age))).padding(to: 8),
            megabytes(backup.size).padding(to: 12),
            format.padding(to: 12), (key?.rawValue ?? "-").padding(to: 8), state,
        ]
        let mark = isForgotten.map { $0 ? "forget" : "keep" }.map { "  " + $0.padding(to: 7) } ?? ""
        return parts.joined(separator: "  ") + mark + "  " + backup.path
    }

    var json: JSON {
        .object(
            [
                ("file", .text(backup.path)), ("source", .text(backup.source)),
                ("date", .text(backup.date.formatted(.iso8601))), ("age_seconds", .real(age)),
                ("is_future", .bool(backup.isDatedInFuture)),
                ("size", .integer(backup.size)), ("sqlcipher_version", .optional(version)),
                ("page_size", .count(backup.settings.pageSize)),
                ("plaintext_header_size", .count(backup.plaintextHeaderSize)),
                ("key_slots", .count(backup.keySlotCount)),
                ("is_complete", .bool(backup.isComplete)), ("key", .optional(key?.rawValue)),
                ("last_check", check?.json ?? .null),
            ] + (isForgotten.map { [("is_forgotten", .bool($0))] } ?? []))
    }
}

extension BackupCheck {
    fileprivate var json: JSON {
        .object([
            ("date", .text(date.formatted(.iso8601))), ("outcome", .text(outcome.rawValue)),
            ("key", .optional(key?.rawValue)),
        ])
    }
}

/// The copies in a folder, and what is wrong with them.
struct BackupList {
    let folder: String
    let lines: [BackupLine]
    let foreign: [String]
    /// The names of copies whose record is missing or damaged.
    let unreadable: [String]
    let maxAge: ReplicaDuration?

    /// The copies that are dated in the future. Their age is unknown.
    var future: [BackupLine] { lines.filter(\.backup.isDatedInFuture) }

    /// The age of the newest good copy of each database in seconds, by its path. Infinite without one.
    private var ages: [(source: String, age: Double)] {
        Dictionary(grouping: lines) { Array($0.backup.source.utf8) }.values.map { lines in
            let known = lines.filter { $0.isGood && !$0.backup.isDatedInFuture }
            return (lines[0].backup.source, known.map { max(0, $0.age) }.min() ?? .infinity)
        }.sorted { $0.0 < $1.0 }
    }

    /// The worst age of all databases. Nil without a copy.
    private var age: Double? { ages.map(\.age).max() }

    var failure: Failure? {
        if let name = unreadable.first {
            return Failure(
                .damaged, file: folder + "/" + name, "its record is missing or damaged, so it is no complete copy",
                remedy: "Make a new backup now; the database in it may be whole: strongroom check tells")
        }
        guard let age else {
            return Failure(
                .absent, file: folder, "it has no dated copies; nothing was changed",
                remedy: "Make one with: strongroom backup FILE \(shellQuoted(folder + "/"))")
        }
        if let bad = lines.first(where: { !$0.isGood }) {
            return Failure(
                .damaged, file: bad.backup.path, "it is \(bad.backup.isComplete ? "damaged" : "incomplete")",
                remedy: "Make a new backup now; strongroom salvage saves the rows of a damaged one")
        }
        guard let maxAge, age > Double(maxAge.milliseconds) / 1000 else { return nil }
        let state = age.isFinite ? "is \(duration(age)) old" : "is dated in the future, so its age is unknown"
        return Failure(
            .tooOld, file: folder, "the newest copy \(state)",
            remedy: "Make one with: strongroom backup FILE \(shellQuoted(folder + "/"))")
    }

    var status: Status { failure?.status ?? .done }

    var members: [(String, JSON)] {
        [
            ("folder", .text(folder)), ("age_seconds", age.map { $0.isFinite ? .real($0) : .null } ?? .null),
            ("backups", .list(lines.map(\.json))), ("foreign", .list(foreign.map(JSON.text))),
            ("unreadable", .list(unreadable.map(JSON.text))),
        ]
    }

    var metrics: [Metric] {
        let good = lines.filter(\.isGood)
        return [
            Metric(
                "strongroom_backup_age_seconds", "Age of the newest good backup of a database.",
                ages.map { ([("folder", folder), ("source", $0.source)], $0.age) }),
            Metric(
                "strongroom_backup_copies", "Number of dated copies in a folder.",
                [([("folder", folder)], Double(lines.count))]),
            Metric(
                "strongroom_backup_bad_copies", "Number of dated copies that are damaged or incomplete.",
                [([("folder", folder)], Double(lines.count - good.count + unreadable.count))]),
            Metric(
                "strongroom_backup_future_copies", "Number of dated copies whose date is in the future.",
                [([("folder", folder)], Double(future.count))]),
        ]
    }
}
