import Foundation

/// The file of a backup and those beside it, which are copied byte by byte. No key is needed, and nothing changes.
struct BackupFiles {
    /// The path of the backup, with symbolic links resolved.
    let path: String

    private static let chunk = 1 << 20

    /// The files beside the backup that are restored with it.
    private var companions: [CompanionFile] {
        CompanionFile.allCases.filter { $0.isRestored && NamedFile.size($0.path(of: path)) > 0 }
    }

    /// The size of all files in bytes.
    var size: Int64 { companions.reduce(max(0, NamedFile.size(path))) { $0 + NamedFile.size($1.path(of: path)) } }

    /// Copies the files to `destination` and its kin, and writes them to the disk.
    ///
    /// - throws: `SQLITE_BUSY` if a connection writes the backup, or if a file of it changes meanwhile.
    func copy(to destination: String, _ progress: (_ bytes: Int64) throws -> Void) throws {
        let hold = try FileHold(path, exclusively: false), before = states()
        var done: Int64 = 0
        func write(_ path: String, _ size: Int64, _ read: (Int64, UnsafeMutableRawBufferPointer) throws -> Void) throws
        {
            let file = StagedFile(path)
            guard file.error == 0 else { throw CopyStaging.failure("create \(path)", file.error) }
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunk, alignment: 16)
            defer { buffer.deallocate() }
            var at: Int64 = 0
            while at < size {
                let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(Self.chunk, Int(size - at))])
                try read(at, part)
                let error = file.writeAtEnd(UnsafeRawBufferPointer(part))
                guard error == 0 else { throw CopyStaging.failure("write a copy of \(self.path)", error) }
                at += Int64(part.count)
                done += Int64(part.count)
                try progress(done)
            }
            let error = file.finish()
            guard error == 0 else { throw CopyStaging.failure("write a copy of \(self.path) to the disk", error) }
        }
        try write(destination, NamedFile.size(path)) { at, part in
            let code = ResultCode(rawValue: hold.connection.readFile(of: "main", at: at, into: part))
            guard code == .SQLITE_OK else { throw unreadable(path, code) }
        }
        for companion in companions {
            let source = companion.path(of: path)
            guard let file = UnlockedFile(source) else { throw unreadable(source, .SQLITE_IOERR_READ) }
            try write(companion.path(of: destination), file.size) { at, part in
                guard file.read(at: at, into: part) else { throw unreadable(source, .SQLITE_IOERR_READ) }
            }
        }
        guard states() == before else {
            throw DatabaseError(
                .SQLITE_BUSY, refusing: "\(path) was changed while it was copied",
                advice: "stop the program that writes it, or make a backup of it first", reason: .changedMeanwhile)
        }
    }

    /// The size, time and number of each file.
    private func states() -> [[Int64]] {
        [UnlockedFile.state(of: path)]
            + CompanionFile.allCases.filter(\.isRestored).map { UnlockedFile.state(of: $0.path(of: path)) }
    }

    private func unreadable(_ path: String, _ code: ResultCode) -> DatabaseError {
        guard states().first?.first == NamedFile.size(self.path), code == .SQLITE_IOERR_SHORT_READ else {
            return DatabaseError(resultCode: code, message: "\(path) can't be read")
        }
        return DatabaseError(
            .SQLITE_BUSY, refusing: "\(path) became shorter while it was copied",
            advice: "stop the program that writes it", reason: .changedMeanwhile)
    }
}
