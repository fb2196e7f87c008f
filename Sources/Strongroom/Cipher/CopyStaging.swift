import CStrongroom
import Foundation

/// Where a copy grows: a folder beside its destination into which only its owner looks. The next copy beside it
/// removes what a killed process has left, and only that: a lock on the folder, which the system releases with the
/// process, tells a copy in the making.
struct CopyStaging {
    private let folder: String
    private let descriptor: CInt
    /// The copy, until it gets its name.
    let path: String

    init(beside destination: String) throws {
        let slash = destination.lastIndex(of: "/")
        let parent = slash.map { $0 == destination.startIndex ? "/" : String(destination[..<$0]) } ?? "."
        strongroom_staging_sweep(parent)
        var name = [CChar](repeating: 0, count: Int(PATH_MAX)), descriptor: CInt = -1
        let error = strongroom_staging_make(parent, &name, name.count, &descriptor)
        guard error == 0 else { throw CopyStaging.failure("make a folder beside \(destination)", error) }
        folder = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        self.descriptor = descriptor
        path = folder + "/copy"
    }

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
