import Foundation
import Strongroom

/// The folder of dated backups of a case.
struct BackupFolder {
    private let backups: DatabaseBackups

    init(_ place: Place) { backups = DatabaseBackups(folder: place.folder + "/backups") }

    private static let start = Date(timeIntervalSince1970: 1_772_000_000)

    func make(of place: Place, day: Int) throws {
        try make(of: place, Self.start.addingTimeInterval(Double(day) * 86_400))
    }

    func make(of place: Place, _ date: Date = Date()) throws {
        try backups.make(of: place.path, encryption: Secret.old.encryption, date: date)
    }

    /// Two backups stay.
    func forget() throws { try backups.forget(keeping: BackupRetention(counts: [.newest: 2])!) }

    /// Each backup is whole, and opens with the key. Those that are kept are there. After the next backup nothing is
    /// left of a killed one.
    static func judge(_ place: Place, _ ledger: Ledger) throws {
        let folder = BackupFolder(place)
        try folder.makeFolder()
        try folder.judge(ledger)
        try folder.make(of: place)
        try folder.judge(ledger)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.backups.folder)
        guard try names.count == folder.backups.backups().count else { throw Finding("left behind: \(names)") }
    }

    private func makeFolder() throws {
        try FileManager.default.createDirectory(atPath: backups.folder, withIntermediateDirectories: true)
    }

    private func judge(_ ledger: Ledger) throws {
        let list = try backups.backups()
        for backup in list {
            guard backup.isGood, !backup.hasForeignFiles else { throw Finding("\(backup) is not whole") }
            let check = try backups.check(backup, keys: BackupCheck.Keys(current: Secret.old.encryption))
            guard check.outcome == .intact, check.key == .current else { throw Finding("\(backup.path): \(check)") }
        }
        let days = Set(list.map { Int($0.date.timeIntervalSince(Self.start) / 86_400) })
        guard ledger.copied == nil || days.isSuperset(of: [2, 3]) else { throw Finding("backups of \(days) are left") }
    }
}
