import Foundation

/// The comparison of a write-ahead log with the key of the file that it is beside. SQLite would apply any log whose
/// checksums are right.
struct ForeignLog {
    let database: Database

    private var cipher: CipherState { database.cipher }

    /// Throws if the key fits the file, and no transaction in the log. Without an HMAC, pages tell nothing.
    func require() throws {
        guard let derived = cipher.derived, database.isFileStored,
            NamedFile.size(CompanionFile.log.path(of: database.filePath)) > 0
        else { return }
        let format = try PageFormat(derived, header: cipher.header)
        // Until a rotation is finished, the file and its log have different keys.
        guard format.authenticates, !SaltFile.exists(.rotation, of: database.filePath),
            try PageReader(database, pageSize: format.pageSize, fileSize: database.fileSize()).isAuthentic(1, format)
        else { return }
        // Another connection may be writing the log: only one that does not change is foreign.
        for attempt in 0..<3 {
            if attempt > 0 { usleep(1000) }
            guard isForeign(format) else { return }
        }
        throw DatabaseError.foreignLog(database.path)
    }

    private func isForeign(_ format: PageFormat) -> Bool {
        let check = FrameCheck(format)
        return withExtendedLifetime(check) {
            LogTransactions.areForeign(
                database.filePath,
                { context, page, size, number in
                    let check = Unmanaged<FrameCheck>.fromOpaque(context!).takeUnretainedValue()
                    return check.accepts(UnsafeRawBufferPointer(start: page, count: Int(size)), number)
                }, Unmanaged.passUnretained(check).toOpaque())
        }
    }
}

private final class FrameCheck {
    private let format: PageFormat

    init(_ format: PageFormat) { self.format = format }

    func accepts(_ page: UnsafeRawBufferPointer, _ number: UInt32) -> Bool {
        page.count == format.pageSize && format.isAuthentic(page, number: Int(number))
    }
}

extension DatabaseError {
    static func foreignLog(_ path: String) -> DatabaseError {
        let log = CompanionFile.log.path(of: path)
        return DatabaseError(
            .SQLITE_CORRUPT, .foreignLog,
            "the key fits \(path), and not the log \(log): it belongs to another database, or to a newer key",
            advice: """
                give the newer key if there is one; otherwise move \(log) and \
                \(CompanionFile.logIndex.path(of: path)) away
                """)
    }
}

extension Database {
    /// The comparison of the log with the key of the file.
    var foreignLog: ForeignLog { ForeignLog(database: self) }
}
