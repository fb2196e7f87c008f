import Foundation

/// A hidden folder beside a database that is being made. A lock on it tells later runs that somebody is at work: what
/// stands in a folder that nobody has locked is from a run that was killed, and is removed, clear text or not.
final class WorkFolder {
    private static let prefix = ".strongroom-"

    private let path: String
    private let descriptor: Int32

    /// Where the database grows.
    var database: String { path + "/database" }

    /// - parameter folder: that of the database to make; a failure names it as `place`.
    init(in folder: String, for place: String) throws {
        while true {
            let path = folder + "/" + Self.prefix + UUID().uuidString.prefix(8).lowercased()
            guard mkdir(path, 0o700) == 0 else { throw Self.failure(errno, place) }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            // Between the two steps it may pass for left over; then there is another name to be had.
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno == ENOTSUP, FileIdentity(path) != nil {
                (self.path, self.descriptor) = (path, descriptor)
                return
            }
            close(descriptor)
        }
    }

    deinit { close(descriptor) }

    private static func failure(_ number: Int32, _ place: String) -> Failure {
        switch number {
        case ENOENT, ENOTDIR:
            Failure(.absent, file: place, "its folder does not exist; nothing was changed",
                    remedy: "Make the folder, or check the path")
        case EACCES, EPERM, EROFS:
            Failure(.other, file: place,
                    "its folder cannot be written (\(String(cString: strerror(number)))); nothing was changed",
                    remedy: "Check the permissions of the folder, or choose another")
        default:
            Failure(errno: number, file: place, doing: "making it")
        }
    }

    func remove() { Self.remove(path) }

    // MARK: - Replacing

    /// Takes the log and the journal of a database that is about to be replaced out of the way.
    func takeAside(_ companions: [String]) throws {
        for companion in companions where rename(companion, aside(companion)) != 0 && errno != ENOENT {
            let number = errno
            putBack(companions)
            throw Failure(errno: number, file: companion, doing: "moving it away")
        }
    }

    /// The database is not replaced: it has its log and its journal again.
    func putBack(_ companions: [String]) {
        for companion in companions { rename(aside(companion), companion) }
    }

    private func aside(_ companion: String) -> String {
        path + "/" + Self.asidePrefix + (companion.split(separator: "/").last ?? "")
    }

    private static let asidePrefix = "-"

    // MARK: - Left-overs

    /// Before anything is said of what stands in the way: some of it may go.
    static func removeLeftOvers(in folder: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(prefix) { removeIfLeftOver(folder, name) }
    }

    private static func removeIfLeftOver(_ folder: String, _ name: String) {
        let path = folder + "/" + name
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), flock(descriptor,
            LOCK_EX | LOCK_NB) == 0 else { return }
        // As long as the new database stands here, the old one was not replaced: what was its own goes back to it.
        if FileIdentity(path + "/database") != nil {
            for file in contents(of: path) where file.hasPrefix(asidePrefix) { link(path + "/" + file,
                folder + "/" + file.dropFirst()) }
            for ending in ["-salt", "-keys"] { remove(ending, ofDatabaseIn: path, from: folder) }
        }
        remove(path)
    }

    /// A salt and a key file get their names before their database does: without it they are nobody's, whole or not.
    private static func remove(_ ending: String, ofDatabaseIn path: String, from folder: String) {
        guard let own = FileManager.default.contents(atPath: path + "/database" + ending) else { return }
        for name in contents(of: folder) where name.hasSuffix(ending) {
            let file = folder + "/" + name
            guard FileIdentity(String(file.dropLast(ending.count))) == nil, FileIdentity(file)?.isRegular == true,
                  let content = FileManager.default.contents(atPath: file), own.starts(with: content)
            else { continue }
            unlink(file)
        }
    }

    private static func contents(of path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// With the folder in it in which the library makes a copy.
    private static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
