import CSQLCipher

/// A backup of one connection's main database into another's: `sqlite3.h`. Functions with a `CInt` return a result
/// code.
///
/// Source: <https://www.sqlite.org/c3ref/backup_finish.html>.
struct RawBackup {
    private let pointer: OpaquePointer

    /// Begins a backup. Nil if it fails: the destination has the error.
    init?(from source: SQLiteConnection, to destination: SQLiteConnection) {
        guard let backup = sqlite3_backup_init(destination, "main", source, "main") else { return nil }
        pointer = backup
    }

    func step(_ pages: CInt) -> CInt { sqlite3_backup_step(pointer, pages) }

    var remainingPageCount: Int { Int(sqlite3_backup_remaining(pointer)) }

    var totalPageCount: Int { Int(sqlite3_backup_pagecount(pointer)) }

    func finish() -> CInt { sqlite3_backup_finish(pointer) }
}
