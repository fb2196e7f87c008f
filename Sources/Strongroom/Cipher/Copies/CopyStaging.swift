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
        try self.init(in: NamedFile.folder(of: destination), name: "copy")
    }

    /// Creates the folder of a backup, which is published as a whole. A mark, and later the record, says that all files
    /// in it belong to the backup.
    ///
    /// - parameter name: the name of the copy in the folder.
    init(ofBackup name: String, in parent: String) throws {
        try self.init(in: parent, name: name)
        let error = StagedCopy.create(folder + "/" + Self.markName, of: nil)
        guard error == 0 else {
            remove()
            throw CopyStaging.failure("make a folder in \(parent)", error)
        }
    }

    /// The names of the record of a backup, and of the mark until there is one.
    static let recordName = "strongroom-backup", markName = "strongroom-backup-new"

    private init(in parent: String, name: String) throws {
        let (error, folder, descriptor) = StagedCopy.makeFolder(in: parent)
        guard error == 0 else { throw CopyStaging.failure("make a folder in \(parent)", error) }
        self.folder = folder
        self.descriptor = descriptor
        path = folder + "/" + name
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

    /// Gives the folder itself, with the copy, a name in its parent. Returns false if the name is taken. Afterwards the
    /// copy is not under ``path`` any more, and ``release()`` ends the staging.
    func publish(as name: String) throws -> Bool {
        let destination = NamedFile.folder(of: folder) + "/" + name
        let error = StagedCopy.publishFolder(folder, as: destination)
        guard error == 0 || error == EEXIST else { throw CopyStaging.failure("name \(destination)", error) }
        return error == 0
    }

    /// Releases the lock of a published folder.
    func release() { StagedCopy.closeFolder(descriptor) }

    /// Removes the folder, with everything in it that has not got its name.
    func remove() {
        StagedCopy.removeFolder(folder, descriptor)
    }

    /// Unlocks the folder, which a replacement still needs.
    func leave() { StagedCopy.leaveFolder(descriptor) }

    static func failure(_ what: String, _ error: CInt) -> DatabaseError {
        let code: ResultCode = [ENOSPC, EDQUOT].contains(error) ? .SQLITE_FULL : .SQLITE_CANTOPEN
        return DatabaseError(resultCode: code, message: "can't \(what): \(String(cString: strerror(error)))")
    }
}
