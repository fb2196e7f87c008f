import CSQLCipher
import Foundation

/// The place of an observed database: a write fails if the path by which it was opened no longer leads to the open
/// file. It would be acknowledged, and no other program would see it.
///
/// A folder that is renamed farther up, and a link that is switched, cause no event. The next write finds them.
final class FilePlace: ConnectionPart {
    private unowned let database: Database

    /// The absolute path by which the database was opened, with its links. Nil if it is not observed.
    private var path: String?

    init(_ database: Database) {
        self.database = database
    }

    var concerns: PartConcerns { path == nil ? [] : [.effects] }

    /// Begins to check the place.
    func begin() {
        let given = SQLiteURI.path(of: database.path)
        let absolute =
            given.utf8.first == UInt8(ascii: "/") ? given : FileManager.default.currentDirectoryPath + "/" + given
        // Another resolution of links than SQLite's tells nothing.
        path = NamedFile.realPath(absolute) == database.filePath ? absolute : database.filePath
        database.parts.update()
    }

    func willRun(_ statement: Statement, in db: Database) throws {
        guard db.isAutocommit, db.transactions.readOnlyDepth == 0, !db.configuration.readonly else { return }
        guard statement.mayWrite || statement.compilation.transaction?.begins == true else { return }
        if try isLeft { throw DatabaseError.fileGone(db.filePath) }
    }

    /// True if the path leads to no file, or to another file than the open one.
    var isLeft: Bool {
        get throws {
            let hasMoved = try RawConnection(database.openConnection).hasMoved
            return hasMoved || path.map { NamedFile.realPath($0) != database.filePath } == true
        }
    }
}

extension StatementCompilation.Transaction {
    fileprivate var begins: Bool {
        switch self {
        case .begin, .beginSavepoint: true
        default: false
        }
    }
}

extension DatabaseError {
    /// True if an interruption, a suspension or the lock of the database has stopped an access.
    var isOfStop: Bool { isInterruptionError || reason == .locked }

    /// True if the error passes without anybody's help: another connection's lock, a journal that the next writer rolls
    /// back, or a moment without descriptors.
    var isPassing: Bool {
        [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL].contains(resultCode) || isOutOfFiles
            || [.SQLITE_READONLY_ROLLBACK, .SQLITE_READONLY_RECOVERY].contains(extendedResultCode)
    }

    /// True if a file could not be opened. It may be missing for good.
    var isOutOfFiles: Bool { resultCode == .SQLITE_CANTOPEN }
}
