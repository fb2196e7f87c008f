import Foundation

/// A backup: a folder with a dated name, which contains a copy of a database, its salt and its slot file, and a record.
public struct DatabaseBackup: Sendable, Equatable {
    /// The folder of the backup.
    public let folder: String
    /// The path of the copy, which opens as the database did.
    public let path: String
    /// The time at which the copy began.
    public let date: Date
    /// The path of the database that was copied.
    public let source: String
    /// The size of all files in bytes.
    public let size: Int64
    /// The format of the pages.
    public let settings: CipherSettings
    /// The size of the plaintext header in bytes. Zero if the copy is encrypted from its first byte.
    public let plaintextHeaderSize: Int
    /// The number of key slots.
    public let keySlotCount: Int
    /// The last check. Nil if its result can't be read. Making a backup includes a check with its key.
    public let lastCheck: BackupCheck?
    /// A Boolean value that indicates whether all files are there, with the size that they were written with.
    public let isComplete: Bool
    /// A Boolean value that indicates whether the folder has files that do not belong to a backup. Such a backup is
    /// never forgotten.
    public let hasForeignFiles: Bool

    /// A Boolean value that indicates whether the backup is complete, and was not found damaged by its last check.
    public var isGood: Bool { isComplete && lastCheck?.outcome != .damaged }

    /// A Boolean value that indicates whether the date is more than five minutes in the future: a clock was wrong when
    /// the backup was made, or is wrong now. Its age is unknown.
    public var isDatedInFuture: Bool { date > Date().addingTimeInterval(300) }

    /// Separates backups of the same second.
    let number: Int
    let record: BackupRecord

    /// Reads the backup in a folder. Nil if there is none.
    init?(in folder: String) {
        guard let name = Self.parsed(NamedFile.name(of: folder)), let record = BackupRecord.read(in: folder) else {
            return nil
        }
        (self.folder, self.record, date, number) = (folder, record, name.date, name.number)
        path = folder + "/" + record.database.name
        (source, size, settings) = (record.source, record.size, record.settings)
        (plaintextHeaderSize, keySlotCount) = (record.headerSize, record.slotCount)
        lastCheck = BackupCheck.read(in: folder)
        isComplete = record.files.allSatisfy { NamedFile.size(folder + "/" + $0.name) == $0.size }
        let database = record.database.name
        let known = [
            database, BackupRecord.fileName, BackupRecord.markName, BackupRecord.partialName, BackupCheck.fileName,
            BackupCheck.partialName,
        ]
        let names = Set((known + CompanionFile.allCases.map { $0.path(of: database) }).map { Array($0.utf8) })
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [""]
        hasForeignFiles = !found.allSatisfy { names.contains(Array($0.utf8)) }
    }

    // MARK: - Names

    /// Returns the name of the folder of a backup: its date, such as `2026-03-01T093000Z`.
    static func name(of date: Date, number: Int) -> String {
        style.format(date) + (number > 1 ? "-\(number)" : "")
    }

    /// Returns the date that the name of a folder gives. Nil for other names.
    static func parsed(_ name: String) -> (date: Date, number: Int)? {
        let parts = name.split(separator: "Z", omittingEmptySubsequences: false)
        guard parts.count == 2, let date = try? style.parse(parts[0] + "Z") else { return nil }
        let number = parts[1].isEmpty ? 1 : parts[1].hasPrefix("-") ? Int(parts[1].dropFirst()) ?? 0 : 0
        // A name that is spelled otherwise was not given by this library.
        return number > 0 && self.name(of: date, number: number) == name ? (date, number) : nil
    }

    private static let style = Date.ISO8601FormatStyle(timeSeparator: .omitted)
}
