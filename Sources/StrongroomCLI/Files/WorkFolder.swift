import Foundation
import Strongroom

/// A hidden folder beside a database that is being made. The process that uses it holds a lock on it. A later run
/// removes folders without a lock, which killed runs left, including their clear text.
final class WorkFolder {
    private static let prefix = ".strongroom-"

    private let path: String
    private let descriptor: Int32

    /// The path at which the database is written.
    var database: String { path + "/database" }

    /// - parameter folder: the folder of the database to make. Failures name `place`.
    init(in folder: String, for place: String) throws {
        while true {
            let path = folder + "/" + Self.prefix + UUID().uuidString.prefix(8).lowercased()
            guard mkdir(path, 0o700) == 0 else { throw Self.failure(errno, place) }
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            // Between the two steps another run may remove it as a leftover; then another name is tried.
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
            Failure(
                .absent, file: place, "its folder does not exist; nothing was changed",
                remedy: "Make the folder, or check the path")
        case EACCES, EPERM, EROFS:
            Failure(
                .other, file: place,
                "its folder cannot be written (\(String(cString: strerror(number)))); nothing was changed",
                remedy: "Check the permissions of the folder, or choose another")
        default:
            Failure(errno: number, file: place, "it cannot be made", remedy: "Check the path")
        }
    }

    func remove() { Self.remove(path) }

    // MARK: - Replacing

    /// Moves the log and the journal of a database aside that is about to be replaced.
    func moveAside(_ companions: [String]) throws {
        for companion in companions where rename(companion, aside(companion)) != 0 && errno != ENOENT {
            let number = errno
            putBack(companions)
            throw Failure(
                errno: number, file: companion, "it cannot be moved away",
                state: "the database is as it was", remedy: "Check the permissions of its folder")
        }
    }

    /// Moves the log and the journal back to the database, which was not replaced.
    func putBack(_ companions: [String]) {
        for companion in companions { rename(aside(companion), companion) }
    }

    private func aside(_ companion: String) -> String {
        path + "/" + Self.asidePrefix + (companion.split(separator: "/").last ?? "")
    }

    private static let asidePrefix = "-"

    // MARK: - Left-overs

    /// Removes leftovers of killed runs, which may also stand in the way.
    static func removeLeftOvers(in folder: String) {
        DatabaseFile.removeLeftOversOfCopies(in: folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where name.hasPrefix(prefix) && !name.hasPrefix(prefix + "partial-") {
            removeIfLeftOver(folder, name)
        }
    }

    private static func removeIfLeftOver(_ folder: String, _ name: String) {
        let path = folder + "/" + name
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(),
            flock(descriptor, LOCK_EX | LOCK_NB) == 0
        else { return }
        // While the new database is still here, the old one was not replaced: it gets its files back.
        if FileIdentity(path + "/database") != nil {
            for file in contents(of: path) where file.hasPrefix(asidePrefix) {
                link(path + "/" + file, folder + "/" + file.dropFirst())
            }
        }
        DatabaseFile.settlePublication(of: path + "/database", in: folder)
        remove(path)
    }

    private static func contents(of path: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    }

    /// Removes the folder, including the one in which the library makes a copy.
    private static func remove(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
}
