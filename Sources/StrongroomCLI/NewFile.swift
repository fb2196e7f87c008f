import Foundation
import Strongroom

/// A database that a command is about to make. It grows under a temporary name in the same folder, and appears under
/// its own name when it is complete: whatever happens on the way, nobody meets half a database.
struct NewFile {
    let path: String
    /// Where the database is written until `publish`.
    let partial: String
    private let replaces: Bool

    /// Refuses a `path` where something is already, unless `replacing`.
    init(path: String, replacing: Bool) throws {
        self.path = path
        replaces = replacing
        let folder = (path as NSString).deletingLastPathComponent
        let name = (path as NSString).lastPathComponent
        partial = (folder as NSString).appendingPathComponent(".\(name).\(UUID().uuidString.prefix(8)).partial")
        // The log of a database that is gone would be played into the new one.
        for taken in [path] + Self.companions(of: path) where Self.exists(taken) {
            guard replacing else {
                throw Failure(.other, file: taken, "it exists already; nothing was changed",
                              remedy: "Choose another name, or give --force to replace it")
            }
        }
        if Self.exists(path + Self.salt) {
            // A database and its salt can't be replaced at one stroke: a crash in between would lose the old database.
            throw Failure(.other, file: path + Self.salt, "it belongs to a database with a plaintext header, which is not replaced",
                          remedy: "Choose another name, or move that database and its salt away")
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
            throw Failure(.other, file: path, "it is not a file, and is not replaced", remedy: "Choose another name")
        }
    }

    /// Has `write` make the database from `source` under the temporary name, and publishes it.
    func fill(
        from source: String, _ label: String, _ options: ProgressOptions, quiet: Bool,
        _ write: (_ partial: String, _ progress: @escaping (EncryptionProgress) throws -> Void) throws -> Void
    ) throws {
        let display = ProgressDisplay(label, files: [(source, 1)], options, quiet: quiet)
        defer { display.clear() }
        try Interruption.deferred { interruption in
            defer { discard() }
            try attributing(to: source) {
                try write(partial) { done in
                    try interruption.check()
                    display.show(source, done)
                }
            }
            // The copy is checked after its last page.
            try interruption.check()
            try publish()
        }
    }

    /// Gives the finished database its name.
    func publish() throws {
        if replaces {
            for companion in Self.companions(of: path) where companion != path + Self.salt { unlink(companion) }
        }
        try attributing(to: path) { try DatabaseFile.give(partial, theName: path, replacing: replaces) }
        try syncFolder()
    }

    func discard() {
        for leftOver in [partial] + Self.companions(of: partial) { unlink(leftOver) }
    }

    private func syncFolder() throws {
        let folder = (path as NSString).deletingLastPathComponent
        let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno: errno, file: path, doing: "opening its folder") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Failure(errno: errno, file: path, doing: "writing its folder") }
    }

    private static func companions(of path: String) -> [String] { ["-journal", "-wal", "-shm", salt].map { path + $0 } }

    private static let salt = "-salt"

    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }
}
