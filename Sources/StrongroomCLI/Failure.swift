import Foundation
import Strongroom

/// The exit status of the program. Scripts rely on these numbers: they never change their meaning.
enum Status: Int32, CaseIterable {
    case done = 0
    case other = 1
    case usage = 2
    case absent = 10
    case busy = 11
    case wrongKey = 12
    case damaged = 13
    case diskFull = 14
    case interrupted = 130
}

/// Why a command did not do its work: what happened, to which file, and what to do about it.
struct Failure: Error, CustomStringConvertible {
    var status: Status
    var file: String?
    var happened: String
    var remedy: String?
    /// More members of the failure's JSON.
    var details: [(String, JSON)]

    init(
        _ status: Status, file: String? = nil, _ happened: String, details: [(String, JSON)] = [], remedy: String? = nil
    ) {
        self.details = details
        self.status = status
        self.file = file
        self.happened = happened
        self.remedy = remedy
    }

    var description: String {
        var text = file.map { "\($0): " } ?? ""
        text += happened + "."
        if let remedy { text += " " + remedy + "." }
        return text
    }
}

extension Failure {
    /// The last error of a system call on `file`, in the system's words.
    init(errno number: Int32, file: String, doing action: String) {
        let reason = String(cString: strerror(number))
        switch number {
        case ENOENT:
            self = .absent(file)
        case ENOSPC, EDQUOT:
            self.init(.diskFull, file: file, "\(action) failed: \(reason)", remedy: "Make room, then run this again")
        default:
            self.init(.other, file: file, "\(action) failed: \(reason)")
        }
    }

    static func absent(_ file: String) -> Failure {
        Failure(.absent, file: file, "there is no such file", remedy: "Check the path")
    }

    /// What the library reports about `file`, with the exit status and the advice that go with it.
    init(_ error: DatabaseError, file: String) {
        let said = error.message ?? "\(error.extendedResultCode)"
        if let version = (1...4).first(where: { said.contains("has the SQLCipher \($0) format") }) {
            self.init(.other, file: file, "its format is that of SQLCipher \(version)",
                      remedy: "Nothing was changed; bring it up to date with: strongroom migrate, and give --sqlcipher-version \(version)")
            return
        }
        if error.isWrongKeyError {
            self.init(.wrongKey, file: file, "this passphrase does not open it",
                      remedy: "Nothing was changed; check the passphrase, and that this is an encrypted database")
            return
        }
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.busy, file: file, "another program is using it (\(said))",
                      remedy: "Stop that program or let it finish, then run this again")
        case .SQLITE_CORRUPT:
            self.init(.damaged, file: file, "it is damaged (\(said))",
                      remedy: "Keep a copy of it as it is, and restore from a backup")
        case .SQLITE_FULL:
            self.init(.diskFull, file: file, "the disk is full (\(said))", remedy: "Make room, then run this again")
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            self.init(.other, file: file, "it cannot be written (\(said))",
                      remedy: "Check the permissions of the file and of its folder")
        case .SQLITE_INTERRUPT:
            self.init(.interrupted, file: file, "interrupted")
        case .SQLITE_CANTOPEN:
            self.init(.other, file: file, "it cannot be opened (\(said))",
                      remedy: "Check the permissions of the file and of its folder")
        default:
            self.init(.other, file: file, said)
        }
    }
}

/// Runs `body`; what it throws about the database at `file` becomes a `Failure` that names the file.
func attributing<T>(to file: String, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as DatabaseError {
        throw Failure(error, file: file)
    }
}
