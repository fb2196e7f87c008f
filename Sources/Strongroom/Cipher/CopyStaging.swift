import CStrongroom
import Foundation

/// The folder in which a copy grows, beside its destination. Only its owner may look into it.
///
/// A lock on the folder, which the system releases with the process, marks a copy in the making. The next copy in the
/// same place removes the folders without one, which killed processes have left.
struct CopyStaging {
    private let folder: String
    private let descriptor: CInt
    /// The copy, until it gets its name.
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

    /// The folder that a file is in.
    private static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/")
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    // MARK: - Left-overs

    /// Removes what killed copies have left beside `destination`: their folders, and salts whose database never got
    /// its name.
    static func removeLeftOvers(beside destination: String) {
        strongroom_staging_sweep(folder(of: destination), { _, path in
            CopyStaging.removeSalt(ofCopyIn: String(cString: path!))
        }, nil)
    }

    /// A copy with a plaintext header gets its name after its salt does. As long as it is in its folder, that salt is
    /// no other database's.
    private static func removeSalt(ofCopyIn staging: String) {
        let copy = staging + "/copy", folder = folder(of: staging)
        guard strongroom_file_exists(copy), SaltFile.exists(.permanent, of: copy) else { return }
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder))
            ?? [] where name.hasSuffix(SaltFile.Role.permanent.rawValue) {
            let database = folder + "/" + name.dropLast(SaltFile.Role.permanent.rawValue.count)
            if !strongroom_file_exists(database) { try? SaltFile.removeSalt(of: database, madeFor: copy) }
        }
    }

    // MARK: - The copy

    /// Makes the file that the copy is written into.
    ///
    /// - parameter source: whose mode the copy gets; nil for a database in memory.
    func create(like source: String?) throws {
        let error = strongroom_copy_create(path, source)
        guard error == 0 else { throw CopyStaging.failure("create \(path)", error) }
    }

    /// Gives the finished copy no more than the mode of its source, and its owner and group where that is permitted.
    func takeMode(of source: String?) throws {
        guard let source else { return }
        let error = strongroom_copy_take_mode(path, source)
        guard error == 0 else { throw CopyStaging.failure("give a copy the mode of \(source)", error) }
    }

    /// Ends the staging: what has got no name is gone.
    func remove() {
        strongroom_staging_remove(folder, descriptor)
    }

    static func failure(_ what: String, _ error: CInt) -> DatabaseError {
        let code: ResultCode = error == ENOSPC ? .SQLITE_FULL : .SQLITE_CANTOPEN
        return DatabaseError(resultCode: code, message: "can't \(what): \(String(cString: strerror(error)))")
    }
}
