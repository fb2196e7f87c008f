import CStrongroom
import Foundation

/// The folder in which a copy is written, beside its destination. Only its owner can open it.
///
/// A lock on the folder, which the system releases when the process ends, marks a copy in progress. The next copy in
/// the same place removes the folders without a lock, which killed processes have left.
struct CopyStaging {
    private let folder: String
    private let descriptor: CInt
    /// The path of the copy until it gets its name.
    let path: String

    init(beside destination: String) throws {
        let parent = CopyStaging.folder(of: destination)
        var name = [CChar](repeating: 0, count: Int(PATH_MAX)), descriptor: CInt = -1
        let error = strongroom_staging_make(parent, &name, name.count, &descriptor)
        guard error == 0 else { throw CopyStaging.failure("make a folder beside \(destination)", error) }
        folder = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        self.descriptor = descriptor
        path = folder + "/copy"
    }

    /// Returns the folder of a file.
    private static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/")
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    // MARK: - Left-overs

    /// Removes what killed copies have left beside `destination`: their folders, and salts and key files of databases
    /// that never got their name.
    static func removeLeftOvers(beside destination: String) {
        strongroom_staging_sweep(folder(of: destination), { _, path in
            let staging = String(cString: path!)
            CopyStaging.removeSidecars(of: staging + "/copy", in: CopyStaging.folder(of: staging))
        }, nil)
    }

    /// Removes the salt and the key file that `copy` was to have in `folder`. A copy gets its name after its sidecars
    /// do: if there is no database with the name, they belong to no other.
    static func removeSidecars(of copy: String, in folder: String) {
        guard strongroom_file_exists(copy) else { return }
        let keys = KeyFiles(database: copy)
        let hasSalt = SaltFile.exists(.permanent, of: copy), hasKeys = keys.exists(.current)
        guard hasSalt || hasKeys else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            if hasSalt, let database = missing(name, SaltFile.Role.permanent.rawValue, folder) {
                try? SaltFile.removeSalt(of: database, madeFor: copy)
            }
            for role in [KeyFiles.Role.current, .scratch] where hasKeys {
                guard let database = missing(name, role.rawValue, folder) else { continue }
                try? KeyFiles(database: database).removeKeys(madeFor: keys)
            }
        }
    }

    /// Returns the database that a sidecar belongs to, if it doesn't exist.
    private static func missing(_ sidecar: String, _ ending: String, _ folder: String) -> String? {
        guard sidecar.hasSuffix(ending) else { return nil }
        let database = folder + "/" + sidecar.dropLast(ending.count)
        return strongroom_file_exists(database) ? nil : database
    }

    // MARK: - The copy

    /// Creates the file that the copy is written into.
    ///
    /// - parameter source: the file whose mode the copy gets. Nil for a database in memory.
    func create(like source: String?) throws {
        let error = strongroom_copy_create(path, source)
        guard error == 0 else { throw CopyStaging.failure("create \(path)", error) }
    }

    /// Restricts the mode of the finished copy to that of its source, and sets its owner and group if that is
    /// permitted.
    func copyMode(of source: String?) throws {
        guard let source else { return }
        let error = strongroom_copy_take_mode(path, source)
        guard error == 0 else { throw CopyStaging.failure("give a copy the mode of \(source)", error) }
    }

    /// Removes the folder, with everything in it that has not got its name.
    func remove() {
        strongroom_staging_remove(folder, descriptor)
    }

    static func failure(_ what: String, _ error: CInt) -> DatabaseError {
        let code: ResultCode = error == ENOSPC ? .SQLITE_FULL : .SQLITE_CANTOPEN
        return DatabaseError(resultCode: code, message: "can't \(what): \(String(cString: strerror(error)))")
    }
}
