import Foundation
import Strongroom

/// The exit status of the program. Scripts rely on these numbers, so their meanings never change.
enum Status: Int32, CaseIterable {
    case done = 0
    case other = 1
    case usage = 2
    case absent = 10
    case busy = 11
    case wrongKey = 12
    case damaged = 13
    case diskFull = 14
    /// The new key opens the database, and something of the former key is left: another program reads its pages, or a
    /// file could not be written.
    case formerKeyRemains = 15
    /// A check has found a database in clear text.
    case notEncrypted = 16
    /// The destination of a replica does not answer.
    case unreachable = 20
    /// The newest restore point or backup is older than what was asked for.
    case tooOld = 21
    case interrupted = 130

    /// The meaning in the help and the manual.
    var meaning: String {
        switch self {
        case .done: "done"
        case .other: "failed for any other reason"
        case .usage: "wrong usage"
        case .absent: "no such file"
        case .busy: "busy: another program uses the database"
        case .wrongKey: "wrong key"
        case .damaged: "damaged"
        case .diskFull: "disk full"
        case .formerKeyRemains: "rotated; a program still reads pages of the former key, or a file could not be written"
        case .notEncrypted: "not encrypted"
        case .unreachable: "the destination does not answer"
        case .tooOld: "the newest restore point or backup is too old"
        case .interrupted: "interrupted"
        }
    }

    /// The statuses from the worst to the best.
    private static let gravity: [Status] = [
        .interrupted, .damaged, .notEncrypted, .diskFull, .wrongKey, .busy, .absent, .unreachable, .tooOld, .other,
        .usage, .formerKeyRemains, .done,
    ]

    static func worst(of statuses: some Collection<Status>) -> Status {
        gravity.first(where: statuses.contains) ?? .done
    }
}

/// The failure of a command: what happened, to which file, and what to do.
struct Failure: Error, CustomStringConvertible, Sendable {
    var status: Status
    /// The database, or the one to be made.
    var file: String?
    /// The key file that the failure is about.
    var keyFile: String?
    var happened: String
    var remedy: String?
    /// Further members of the failure's JSON.
    var details: [(String, JSON)]
    /// True if the failure is an attempt to write.
    var isOfWriting = false
    /// True if the salt, and not the key, is wrong.
    var isOfSalt = false

    init(
        _ status: Status, file: String? = nil, keyFile: String? = nil, _ happened: String,
        details: [(String, JSON)] = [], remedy: String? = nil
    ) {
        self.details = details
        self.status = status
        self.file = file
        self.keyFile = keyFile
        self.happened = happened
        self.remedy = remedy
    }

    /// Returns the failure of a command that could not have changed anything: it does not say so.
    var withoutState: Failure {
        var failure = self
        failure.happened = failure.happened.replacing("; nothing was changed", with: "")
        return failure
    }

    mutating func addRemedy(_ text: String) {
        remedy = (remedy.map { $0 + ". " } ?? "") + text
    }

    /// The members after the head of the JSON.
    var members: [(String, JSON)] {
        [("error", .text(happened)), ("remedy", .optional(remedy))]
            + (keyFile.map { [("key_file", .text($0))] } ?? []) + details
    }

    var description: String {
        var text = (keyFile ?? file).flatMap { $0.isEmpty ? nil : "\($0): " } ?? ""
        text += happened + "."
        if let remedy { text += " " + remedy + "." }
        return text
    }
}

extension Failure {
    /// Creates the failure of a system call: what is not possible, with the system's reason; what state things are
    /// in; and what to do.
    init(
        errno number: Int32, file: String? = nil, keyFile: String? = nil, _ problem: String,
        state: String = "nothing was changed", remedy: String
    ) {
        let happened = "\(problem) (\(String(cString: strerror(number)))); \(state)"
        switch number {
        case ENOENT:
            self.init(
                .absent, file: file, keyFile: keyFile, "there is no such file; nothing was changed",
                remedy: "Check the path")
        case ENOSPC, EDQUOT:
            self.init(.diskFull, file: file, keyFile: keyFile, happened, remedy: "Make room, then run this again")
        case EACCES, EPERM:
            self = Failure(.other, file: file, keyFile: keyFile, happened, remedy: remedy)
                .naming(rightsOf: keyFile ?? file)
        default:
            self.init(.other, file: file, keyFile: keyFile, happened, remedy: remedy)
        }
    }

    /// Creates the failure of a system call on a file with a key or a salt.
    init(errno number: Int32, ofKeyFile file: String, holding noun: String = "key") {
        let remedy =
            switch number {
            case EISDIR: "It is a folder: give the file in it"
            case EACCES, EPERM: "Check its permissions and those of its folder"
            case EBADF: "Check the number"
            default: "Check the path"
            }
        let reason = String(cString: strerror(number))
        self =
            number == ENOENT
            ? .absent(file)
            : Failure(.other, "the \(noun) cannot be read (\(reason)); nothing was changed", remedy: remedy)
        (self.file, keyFile) = (nil, file)
        if number == EACCES || number == EPERM { self = naming(rightsOf: file) }
    }

    static func absent(_ file: String) -> Failure {
        Failure(.absent, file: file, "there is no such file; nothing was changed", remedy: "Check the path")
    }

    static func notFile(_ file: String) -> Failure {
        Failure(.other, file: file, "it is not a file; nothing was changed", remedy: "Give the path of a database")
    }

    /// Creates the failure of any error.
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

/// Ends a command that has already printed its failures.
struct ReportedError: Error {
    var status: Status
}

/// Runs `body`, and throws its database errors as failures that name `file`.
///
/// - parameter secret: the key of the database.
/// - parameter sparingDisk: true to rethrow errors of the disk, which concern the file that was written.
func attributing<T>(
    to file: String, opening secret: GivenSecret? = nil, sparingDisk: Bool = false,
    _ body: () throws -> T
) throws -> T {
    do {
        return try body()
    } catch let error as DatabaseError where !sparingDisk || !Failure.isOfDisk(error) {
        let failure = Failure(error, file: file)
        throw secret.map { failure.naming(isRawKey: $0.isUsedAsKey) } ?? failure
    }
}
