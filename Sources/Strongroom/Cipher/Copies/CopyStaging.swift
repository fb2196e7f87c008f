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
        let parent = NamedFile.folder(of: destination)
        let (error, folder, descriptor) = StagedCopy.makeFolder(in: parent)
        guard error == 0 else { throw CopyStaging.failure("make a folder beside \(destination)", error) }
        self.folder = folder
        self.descriptor = descriptor
        path = folder + "/copy"
    }

    // MARK: - Left-overs

    /// Removes what killed copies of this user have left beside `destination`: their folders, and what the record in
    /// such a folder names.
    static func removeLeftOvers(beside destination: String) {
        StagedCopy.sweep(
            NamedFile.folder(of: destination),
            willRemove: { _, path in
                let staging = String(cString: path!)
                CopyPublication.settle(staging + "/copy", in: NamedFile.folder(of: staging))
            })
    }

    // MARK: - The copy

    /// Creates the file that the copy is written into.
    ///
    /// - parameter source: the file whose mode the copy gets. Nil for a database in memory.
    func create(like source: String?, isEncrypted: Bool) throws {
        var error = StagedCopy.create(path, of: source)
        if error == 0, source == nil, isEncrypted {
            error = NamedFile.setPermissions(path, Configuration().posixPermissions)
        }
        guard error == 0 else { throw CopyStaging.failure("create \(path)", error) }
    }

    /// Restricts the mode of the finished copy to that of its source, and sets its owner and group if that is
    /// permitted.
    func copyMode(of source: String?) throws {
        guard let source else { return }
        let error = StagedCopy.takeMode(path, of: source)
        guard error == 0 else { throw CopyStaging.failure("give a copy the mode of \(source)", error) }
    }

    /// Removes the folder, with everything in it that has not got its name.
    func remove() {
        StagedCopy.removeFolder(folder, descriptor)
    }

    static func failure(_ what: String, _ error: CInt) -> DatabaseError {
        let code: ResultCode = error == ENOSPC ? .SQLITE_FULL : .SQLITE_CANTOPEN
        return DatabaseError(resultCode: code, message: "can't \(what): \(String(cString: strerror(error)))")
    }
}
