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
struct Failure: Error, CustomStringConvertible, Sendable {
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

    mutating func addRemedy(_ text: String) {
        remedy = (remedy.map { $0 + ". " } ?? "") + text
    }

    /// After the head of its JSON.
    var members: [(String, JSON)] {
        [("error", .text(happened)), ("remedy", .optional(remedy))] + details
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
        let said = error.failureReason ?? "\(error.extendedResultCode)"
        if let version = error.formatVersion {
            self.init(otherFormat: version, file: file)
            return
        }
        if error.reason == .missingSalt {
            self.init(.other, file: file, "its header is plaintext and its salt is missing; nothing was changed",
                      remedy: "Put \(shellQuoted(file + "-salt")) back, or give the salt with --salt-file")
            return
        }
        if [.damagedSalt, .contradictoryHeader, .unfitSaltFile, .nameTooLong].contains(error.reason) {
            let isDamaged = error.reason == .damagedSalt || error.reason == .contradictoryHeader
            let advice = error.recoverySuggestion.map { $0.prefix(1).uppercased() + $0.dropFirst() }
            self.init(isDamaged ? .damaged : .other, file: file, said, remedy: advice)
            return
        }
        if error.isWrongKeyError {
            self.init(.wrongKey, file: file, "this passphrase does not open it",
                      remedy: "Nothing was changed; check the passphrase, and that this is an encrypted database with pages of the usual size (--page-size)")
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
            self.init(.other, file: file, said, remedy: error.recoverySuggestion)
        }
    }
}

extension Failure {
    /// The key is right, and the format is one that the options did not name.
    private init(otherFormat version: Int, file: String) {
        let remedy = version == 4 ? "Leave --sqlcipher-version away" : """
            Make a copy in today's format with: strongroom migrate \(shellQuoted(file)) \(shellQuoted(file + ".new")) \
            --sqlcipher-version \(version) (and where its passphrase is); or give this option to other commands
            """
        self.init(.other, file: file, "its format is that of SQLCipher \(version); nothing was changed",
                  details: [("sqlcipherVersion", .integer(Int64(version)))], remedy: remedy)
    }

    /// Whatever a command threw.
    init(any error: any Error, file: String?) {
        switch error {
        case let failure as Failure:
            self = failure
            self.file = failure.file ?? file
        case let error as DatabaseError: self.init(error, file: file ?? "the database")
        default: self.init(.other, file: file, "\(error)")
        }
    }
}

/// The end of a command that has told everything already.
struct Told: Error {
    var status: Status
}

/// Runs `body`; what it throws about the database at `file` becomes a `Failure` that names the file.
func attributing<T>(to file: String, _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as DatabaseError {
        throw Failure(error, file: file)
    }
}
