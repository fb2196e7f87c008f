import Foundation

/// A backup as one stream of bytes: an archive of tar with the record, the salt file, the slot file and the database,
/// in this order. The record comes first, so that a reader knows what is to follow.
package enum BackupStream {
    /// Writes a backup of a database, which may be in use.
    ///
    /// A copy is made first, which is opened and checked. It is encrypted as the database is.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - folder: the folder for the copy, which is removed at the end.
    ///   - progress: called as pages are written and checked. An error that it throws stops the backup.
    ///   - sink: takes the next bytes of the stream.
    package static func write(
        _ path: String, encryption: Encryption, by folder: String,
        progress: ((EncryptionProgress) throws -> Void)? = nil, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let path = DatabaseFile.realPath(path)
        CopyStaging.removeLeftOvers(beside: folder + "/")
        let copy = try DatabaseFile.reading(path: path, encryption: encryption, busyTimeout: 5) {
            try StagedBackup(of: $0, in: folder, progress)
        }
        defer { copy.staging.remove() }
        try write(copy.record, in: NamedFile.folder(of: copy.staging.path), to: sink)
    }

    /// Writes a backup from a folder of backups.
    package static func write(_ backup: DatabaseBackup, to sink: (UnsafeRawBufferPointer) throws -> Void) throws {
        try write(backup.record, in: backup.folder, to: sink)
    }

    private static func write(
        _ record: BackupRecord, in folder: String, to sink: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var count = 0
        func put(_ bytes: [UInt8]) throws {
            try bytes.withUnsafeBytes(sink)
            count += bytes.count
        }
        let text = record.text
        try put(TarHeader(name: BackupRecord.fileName, size: Int64(text.count)).blocks + text)
        try put([UInt8](repeating: 0, count: TarHeader.padding(after: Int64(text.count))))
        for file in record.files {
            try put(TarHeader(name: file.name, size: file.size).blocks)
            let written = try BackupContent(folder + "/" + file.name).forEachPart(sink)
            guard written == file.size else {
                throw DatabaseError(
                    .SQLITE_IOERR, refusing: "\(file.name) has changed while it was read", reason: .unfitBackup)
            }
            count = (count + Int(written % Int64(blocking))) % blocking
            try put([UInt8](repeating: 0, count: TarHeader.padding(after: file.size)))
        }
        // Two blocks of zeros, and as many as make the archive a multiple of what tapes had.
        try put([UInt8](repeating: 0, count: 2 * TarHeader.blockSize))
        try put([UInt8](repeating: 0, count: (blocking - count % blocking) % blocking))
    }

    private static let blocking = 10_240
}

/// A backup that was unpacked from a stream into a folder of its own, which only its owner can open.
package final class UnpackedBackup {
    private let staging: CopyStaging
    package let record: BackupRecord

    /// The path of the database. Its salt and its slot file are beside it.
    package var path: String { staging.path }

    fileprivate init(_ staging: CopyStaging, _ record: BackupRecord) { (self.staging, self.record) = (staging, record) }

    /// Removes the folder, with what was not moved out of it.
    package func remove() { staging.remove() }
}

extension BackupStream {
    /// Unpacks a stream into a new folder beside `target`, and compares each file with its SHA-256.
    ///
    /// The next copy, backup or unpacking beside `target` removes what a killed process has left.
    ///
    /// - parameter source: fills the buffer, and returns the number of bytes; zero at the end of the stream only.
    /// - throws: `SQLITE_CORRUPT` with the reason `unfitBackup` if the stream is not a backup, damaged, or incomplete;
    ///   `SQLITE_FULL`; the errors of `source`. After an error, no file remains.
    package static func unpack(
        beside target: String, from source: (UnsafeMutableRawBufferPointer) throws -> Int
    ) throws -> UnpackedBackup {
        CopyStaging.removeLeftOvers(beside: target)
        return try withoutActuallyEscaping(source) { source in
            let reader = TarReader(source)
            guard let head = try reader.header(), head.name == BackupRecord.fileName,
                head.size <= BackupRecord.largestSize, let record = BackupRecord(text: try reader.bytes(of: head))
            else { throw TarReader.unfit("it does not begin with the record of a backup") }
            let staging = try CopyStaging(ofBackup: record.database.name, in: NamedFile.folder(of: target))
            do {
                for file in record.files { try unpack(file, reader, in: NamedFile.folder(of: staging.path)) }
                guard try reader.header() == nil else { throw TarReader.unfit("it has more files than its record") }
                try reader.drain()
                return UnpackedBackup(staging, record)
            } catch {
                staging.remove()
                throw error
            }
        }
    }

    private static func unpack(_ file: BackupRecord.File, _ reader: TarReader, in folder: String) throws {
        guard let head = try reader.header(), head.name.hasBytes(of: file.name), head.size == file.size else {
            throw TarReader.unfit("\(file.name) is not where its record has it")
        }
        var digest = try FileDigest()
        try NewContent.write(folder + "/" + file.name) { handle in
            try reader.forEachPart(of: head) {
                try digest.add($0)
                try handle.write($0)
            }
        }
        guard try digest.end() == file.digest else { throw TarReader.unfit("\(file.name) is not what was written") }
    }
}

/// A file that is being written in a private folder.
private struct NewContent {
    let path: String
    let handle: FileHandle

    /// Creates a file, and writes it to the disk when `body` returns.
    static func write(_ path: String, _ body: (NewContent) throws -> Void) throws {
        let isCreated = FileManager.default.createFile(
            atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
        guard isCreated, let handle = FileHandle(forWritingAtPath: path) else {
            throw DatabaseError(.SQLITE_CANTOPEN, refusing: "can't create \(path)", reason: .unfitBackup)
        }
        let content = NewContent(path: path, handle: handle)
        defer { try? handle.close() }
        try body(content)
        try content.explaining { try handle.synchronize() }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try explaining { try handle.write(contentsOf: Data(bytes)) }
    }

    private func explaining(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch {
            let reason = (error as? CocoaError)?.userInfo[NSUnderlyingErrorKey] as? POSIXError
            let isFull = reason?.code == .ENOSPC || (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw DatabaseError(
                isFull ? .SQLITE_FULL : .SQLITE_IOERR_WRITE,
                message: "can't write \(path): \(error.localizedDescription)")
        }
    }
}
