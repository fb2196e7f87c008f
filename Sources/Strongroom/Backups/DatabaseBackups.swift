import Foundation

/// A folder with dated backups of encrypted databases, in which a rule decides what is kept.
///
/// ```swift
/// let backups = DatabaseBackups(folder: "/srv/backup/notes")
/// try await backups.make(of: path, encryption: encryption)
/// try backups.forget(keeping: BackupRetention("7d,4w,12m")!)
/// ```
///
/// Each backup is a folder inside, whose name is the date. A backup gets this name in the last step: before that, the
/// copy, its salt and its slot file are completed, opened, checked and synced. The folder that a killed process leaves
/// has another name, and the next backup removes it. Other files and folders stay, and are ignored.
public struct DatabaseBackups: Sendable {
    /// The path of the folder.
    public let folder: String

    /// Creates the value. The first backup creates the folder with mode 0700. The folder around it must exist.
    public init(folder: String) {
        self.folder =
            folder.utf8.count > 1 && folder.utf8.last == UInt8(ascii: "/") ? String(folder.dropLast()) : folder
    }

    // MARK: - Listing

    /// Returns the backups, the newest one first.
    ///
    /// - parameter source: the path of a database, to list its backups only. Nil, the default, for all.
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be read.
    public func backups(of source: String? = nil) throws -> [DatabaseBackup] {
        let source = source.map(DatabaseFile.realPath)
        return try names().compactMap { DatabaseBackup(in: folder + "/" + $0) }
            .filter { source == nil || $0.source.hasBytes(of: source!) }
            .sorted { ($0.date, $0.number) > ($1.date, $1.number) }
    }

    /// Returns the names of files and folders that are no backups. The library does not change them.
    ///
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be read.
    public func foreignNames() throws -> [String] {
        try names().filter { !$0.hasPrefix(".strongroom-") && DatabaseBackup(in: folder + "/" + $0) == nil }.sorted()
    }

    /// Returns those of the foreign names that are backups whose record is missing or damaged: folders with files, and
    /// with the date of a backup as their name.
    ///
    /// - throws: `SQLITE_CANTOPEN` if the folder can't be read.
    public func damagedNames() throws -> [String] {
        try foreignNames().filter { name in
            guard DatabaseBackup.parsed(name) != nil else { return false }
            return (try? FileManager.default.contentsOfDirectory(atPath: folder + "/" + name))?.isEmpty == false
        }
    }

    private func names() throws -> [String] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch {
            let code = ((error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError)?.code.rawValue
            let reason = code.map { ": " + String(cString: strerror($0)) } ?? ""
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "can't read the folder \(folder)\(reason)",
                advice: "check its permissions", reason: .unfitBackup)
        }
    }

    // MARK: - Forgetting

    /// The outcome of ``forget(keeping:of:sparing:isDryRun:)``.
    public struct Forgotten: Sendable {
        /// The backups that were removed, or would be.
        public internal(set) var removed: [DatabaseBackup] = []
        /// The backups that stay.
        public internal(set) var kept: [DatabaseBackup] = []
    }

    /// Removes the backups that a rule does not keep. The rule applies to the backups of each database separately.
    ///
    /// The newest good backup of a database always stays. A damaged backup never takes the place of a good one in the
    /// rule. A backup loses its name before its files are removed. A backup with foreign files stays. So does one that
    /// is dated in the future, and it does not count: a clock was wrong.
    ///
    /// - parameters:
    ///   - retention: the rule.
    ///   - source: the path of a database, to forget backups of it only. Nil, the default, for all databases.
    ///   - made: a backup that stays, whatever its date is: the one that was just made. Nil, the default, for none.
    ///   - isDryRun: true to remove nothing. Default: false.
    /// - throws: `SQLITE_CANTOPEN` if a backup can't be removed. Those before it are gone.
    @discardableResult
    public func forget(
        keeping retention: BackupRetention, of source: String? = nil, sparing made: DatabaseBackup? = nil,
        isDryRun: Bool = false
    ) throws -> Forgotten {
        var outcome = Forgotten()
        let now = Date(), groups = Dictionary(grouping: try backups(of: source)) { Array($0.source.utf8) }
        for (_, backups) in groups.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let kept = Self.kept(backups.filter { $0.date <= now }, retention)
            for backup in backups {
                let isSpared = backup.date > now || backup.folder == made?.folder
                if isSpared || kept.contains(backup.folder) || backup.hasForeignFiles {
                    outcome.kept.append(backup)
                } else if try isDryRun || remove(backup) {
                    outcome.removed.append(backup)
                }
            }
        }
        return outcome
    }

    /// Returns the folders that the rule keeps: those that it keeps of the good backups, those that it keeps of all,
    /// and the newest good one.
    private static func kept(_ backups: [DatabaseBackup], _ retention: BackupRetention) -> Set<String> {
        let good = backups.filter(\.isGood)
        let chosen = [good, backups].flatMap { list in
            zip(list, retention.periods(keeping: list.map(\.date))).filter { !$1.isEmpty }.map(\.0)
        }
        return Set((chosen + good.prefix(1)).map(\.folder))
    }

    /// Removes a backup. Returns false if another process does.
    private func remove(_ backup: DatabaseBackup) throws -> Bool {
        let (error, path, descriptor) = StagedCopy.retireFolder(backup.folder, in: folder)
        guard ![ENOENT, EBUSY].contains(error) else { return false }
        guard error == 0 else { throw CopyStaging.failure("remove \(backup.folder)", error) }
        StagedCopy.removeFolder(path, descriptor)
        return true
    }
}
