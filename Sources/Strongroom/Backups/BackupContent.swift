/// The content of a file of a backup. It is read through SQLite: closing another descriptor of a database would release
/// the locks of this process.
struct BackupContent {
    let path: String

    init(_ path: String) throws {
        guard NamedFile.isRegular(path) else {
            throw DatabaseError(.SQLITE_CANTOPEN, refusing: "\(path) is not a file", reason: .unfitBackup)
        }
        self.path = path
    }

    /// Calls `body` with the bytes of the file, part by part. Returns their number.
    @discardableResult
    func forEachPart(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Int64 {
        try DatabaseFile.withUnusedConnection(path) { database in
            let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 8)
            defer { room.deallocate() }
            let size = try database.fileSize()
            var offset: Int64 = 0
            while offset < size {
                let part = UnsafeMutableRawBufferPointer(rebasing: room.prefix(Int(min(size - offset, 1 << 20))))
                try database.check(RawConnection(database.openConnection).readFile(of: "main", at: offset, into: part))
                try body(UnsafeRawBufferPointer(part))
                offset += Int64(part.count)
            }
            return size
        }
    }

    /// Returns the size and the SHA-256.
    ///
    /// - parameter stop: called between two parts. An error that it throws stops the work.
    func file(_ stop: () throws -> Void = {}) throws -> BackupRecord.File {
        var digest = try FileDigest()
        let size = try forEachPart {
            try stop()
            try digest.add($0)
        }
        return BackupRecord.File(name: NamedFile.name(of: path), size: size, digest: try digest.end())
    }
}

/// A SHA-256 of bytes that come in parts.
struct FileDigest {
    private let state: SHA256State

    init() throws {
        guard let state = SHA256State() else { throw Self.refusal }
        self.state = state
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) throws {
        guard state.add(bytes) == 0 else { throw Self.refusal }
    }

    /// Returns the hexadecimal digits.
    mutating func end() throws -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard state.end(into: &digest) == 0 else { throw Self.refusal }
        return hexadecimal(digest)
    }

    private static var refusal: DatabaseError {
        DatabaseError(.SQLITE_IOERR, message: "the cryptographic provider refuses SHA-256")
    }
}
