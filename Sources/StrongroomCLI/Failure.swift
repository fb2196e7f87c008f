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
    /// The new key is the one, and something of the former key is left: somebody reads it.
    case formerKeyRemains = 15
    case interrupted = 130

    /// From the one that several files end with if one of them does, to the one that all must agree on.
    private static let gravity: [Status] = [
        .interrupted, .damaged, .diskFull, .wrongKey, .busy, .absent, .other, .usage, .formerKeyRemains, .done,
    ]

    static func worst(of statuses: some Collection<Status>) -> Status {
        gravity.first(where: statuses.contains) ?? .done
    }
}

/// Why a command did not do its work: what happened, to which file, and what to do about it.
struct Failure: Error, CustomStringConvertible, Sendable {
    var status: Status
    /// The database, or the one that was to be made.
    var file: String?
    /// The key file that the failure is about.
    var keyFile: String?
    var happened: String
    var remedy: String?
    /// More members of the failure's JSON.
    var details: [(String, JSON)]
    /// Something was to be written where nothing may be.
    var isOfWriting = false
    /// The key is not to blame.
    var isOfSalt = false

    init(
        _ status: Status, file: String? = nil, keyFile: String? = nil, _ happened: String, details: [(String,
            JSON)] = [],
        remedy: String? = nil
    ) {
        self.details = details
        self.status = status
        self.file = file
        self.keyFile = keyFile
        self.happened = happened
        self.remedy = remedy
    }

    mutating func addRemedy(_ text: String) {
        remedy = (remedy.map { $0 + ". " } ?? "") + text
    }

    /// After the head of its JSON.
    var members: [(String, JSON)] {
        [("error", .text(happened)),
         ("remedy", .optional(remedy))] + (keyFile.map { [("key_file", .text($0))] } ?? []) + details
    }

    var description: String {
        var text = (keyFile ?? file).flatMap { $0.isEmpty ? nil : "\($0): " } ?? ""
        text += happened + "."
        if let remedy { text += " " + remedy + "." }
        return text
    }
}

extension Failure {
    /// Creates the failure of a system call on `file`, with the system's message.
    init(errno number: Int32, file: String? = nil, keyFile: String? = nil, doing action: String,
         remedy: String? = nil) {
        let reason = String(cString: strerror(number))
        switch number {
        case ENOENT:
            self.init(.absent, file: file, keyFile: keyFile, "there is no such file", remedy: "Check the path")
        case ENOSPC, EDQUOT:
            self.init(.diskFull, file: file, keyFile: keyFile, "\(action) failed: \(reason)",
                      remedy: "Make room, then run this again")
        default:
            self.init(.other, file: file, keyFile: keyFile, "\(action) failed: \(reason)", remedy: remedy)
        }
    }

    /// Creates the failure of a system call on a file with a key or a salt.
    init(errno number: Int32, ofKeyFile file: String, holding noun: String = "key") {
        let remedy = switch number {
        case EISDIR: "It is a folder: give the file in it"
        case EACCES, EPERM: "Check its permissions and those of its folder"
        case EBADF: "Check the number"
        default: "Check the path"
        }
        let reason = String(cString: strerror(number))
        self = number == ENOENT ? .absent(file) : Failure(
            .other, "the \(noun) cannot be read (\(reason)); nothing was changed", remedy: remedy)
        (self.file, keyFile) = (nil, file)
    }

    static func absent(_ file: String) -> Failure {
        Failure(.absent, file: file, "there is no such file", remedy: "Check the path")
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

/// Runs `body`; what it throws about the database `file` becomes a `Failure` that names it.
///
/// - parameter secret: the key that it was opened with.
/// - parameter sparingDisk: leaves what a disk refused to the file that was written.
func attributing<T>(to file: String, opening secret: Secret? = nil, sparingDisk: Bool = false,
                    _ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as DatabaseError where !sparingDisk || !Failure.isOfDisk(error) {
        let failure = Failure(error, file: file)
        throw secret.map { failure.naming(isRawKey: $0.isUsedAsKey) } ?? failure
    }
}
