import Foundation
import Strongroom

/// A file that an argument names. The library gets its absolute path, which SQLite takes neither for a URI nor for a
/// database in memory, with symbolic links resolved as SQLite resolves them for sidecars.
struct Place: Sendable, Hashable {
    /// The name as it was given, for messages.
    let name: String
    let path: String

    init(_ name: String) throws {
        guard !name.isEmpty else {
            throw Failure(.usage, "an empty name names no file; nothing was changed", remedy: "Check the arguments")
        }
        self.name = name
        path = try Self.resolved(name) ?? Self.byFolder(name)
    }

    /// The folder of the file.
    var folder: String { Self.split(path).folder }

    /// The files beside the database that belong to it.
    var companions: [String] { CompanionFile.withState.map(path(of:)) }

    func path(of companion: CompanionFile) -> String { companion.path(of: path) }

    /// Returns the path with symbolic links resolved. Nil if there is no file.
    private static func resolved(_ name: String) throws -> String? {
        guard let bytes = realpath(name, nil) else { return nil }
        defer { free(bytes) }
        // Swift would repair it into another path.
        guard let path = String(validatingCString: bytes) else {
            throw Failure(
                .usage, file: name,
                "it, or a folder that it is in, has a name that is not UTF-8; nothing was changed",
                remedy: "Give what is called so another name")
        }
        return path
    }

    /// Returns the path of a file that does not exist yet.
    private static func byFolder(_ name: String) throws -> String {
        let (folder, last) = split(name)
        let here = FileManager.default.currentDirectoryPath
        let absolute = try resolved(folder) ?? (folder.hasPrefix("/") ? folder : here + "/" + folder)
        return (absolute == "/" ? "" : absolute) + "/" + last
    }

    /// Writes the name of a file to the disk. Returns zero or an errno.
    static func syncFolder(of name: String) -> Int32 {
        let descriptor = open(split(name).folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Some file systems can't sync a folder.
        return fsync(descriptor) == 0 || errno == EINVAL ? 0 : errno
    }

    private static func split(_ name: String) -> (folder: String, last: String) {
        guard let slash = name.lastIndex(of: "/") else { return (".", name) }
        let folder = name[..<slash]
        return (folder.isEmpty ? "/" : String(folder), String(name[name.index(after: slash)...]))
    }
}

/// The identity of a file, whatever its name.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    private let number: UInt64
    let linkCount: Int
    let isRegular: Bool

    /// Reads the identity. Nil if there is no file.
    init?(_ path: String) {
        var status = stat()
        // Without opening the file: closing it would drop SQLite's locks.
        guard stat(path, &status) == 0 else { return nil }
        device = UInt64(truncatingIfNeeded: status.st_dev)
        number = UInt64(truncatingIfNeeded: status.st_ino)
        linkCount = Int(status.st_nlink)
        isRegular = status.st_mode & S_IFMT == S_IFREG
    }
}
