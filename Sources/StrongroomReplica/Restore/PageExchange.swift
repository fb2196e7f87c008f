/// A change of the pages of a database that no connection has open, in the way of SQLite's rollback journal: what a
/// killed process leaves is rolled back by the next connection that opens the database, with or without its key.
/// <https://www.sqlite.org/fileformat2.html#the_rollback_journal>
struct PageExchange {
    let path: String
    /// The new pages, and those to become zeros.
    let spool: Spool
    let zeros: [UInt32]
    let old: (pageSize: UInt32, pageCount: UInt32)
    let new: Point
    /// Throws if the database is not the old one. Called with the lock that keeps others out.
    let requireOld: (DatabaseLocks) throws -> Void

    /// Returns false if a connection has the database open. Nothing was changed then.
    func run() throws -> Bool {
        guard let locks = try DatabaseLocks(path: path) else {
            throw ReplicaError(.unreadable, path, "it was removed. Move its -replica folder away, and begin again.")
        }
        guard try locks.share() else { return false }
        guard try locks.exclude() else { return false }
        if let log = Files.status(path + Companion.log.rawValue), log.st_size > 0 { throw Self.changed(path) }
        guard try locks.size() == Int64(old.pageCount) * Int64(old.pageSize) else { throw Self.changed(path) }
        try requireOld(locks)
        do {
            try writeJournal(locks)
            try writePages(locks)
            try writeSidecars()
        } catch {
            // Without the lock, the journal is a hot one.
            locks.unshare()
            _ = try? KeylessConnection(path: path, pageSize: 0)
            throw error
        }
        guard unlink(journal) == 0 else { throw Files.failure(journal, "it can't be removed") }
        try Files.syncFolder(Files.folder(of: path) ?? ".")
        return true
    }

    static func changed(_ path: String) -> ReplicaError {
        ReplicaError(
            .unreadable, path,
            "another program has changed it, so that it no longer follows the replica; it was left as it is. Restore "
                + "to another name.")
    }

    private var journal: String { path + Companion.journal.rawValue }

    /// The lock page of a page size, which SQLite neither reads nor writes.
    private static func lockPage(_ size: UInt32) -> UInt32 { 0x4000_0000 / size + 1 }

    // MARK: The journal

    private func writeJournal(_ locks: DatabaseLocks) throws {
        let descriptor = try Files.open(journal, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        defer { close(descriptor) }
        let nonce = UInt32.random(in: .min ... .max), pages = changedPages
        try write(header(nonce, pages.count), descriptor, 0)
        var page = [UInt8](repeating: 0, count: Int(old.pageSize)), offset: Int64 = Self.sector
        for number in pages {
            try page.withUnsafeMutableBytes { try locks.read(number, into: $0) }
            var record = ByteWriter()
            record.add(number)
            record.add(page)
            record.add(Self.checksum(page, nonce))
            try write(record.bytes, descriptor, offset)
            offset += Int64(record.bytes.count)
        }
        try Files.sync(descriptor, journal)
        try Files.syncFolder(Files.folder(of: path) ?? ".")
    }

    private static let sector: Int64 = 512

    private func header(_ nonce: UInt32, _ count: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.add([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7])
        for word in [UInt32(count), nonce, old.pageCount, UInt32(Self.sector), old.pageSize] { writer.add(word) }
        return writer.bytes + [UInt8](repeating: 0, count: Int(Self.sector) - writer.bytes.count)
    }

    private static func checksum(_ page: [UInt8], _ nonce: UInt32) -> UInt32 {
        stride(from: page.count - 200, to: 0, by: -200).reduce(nonce) { $0 &+ UInt32(page[$1]) }
    }

    /// The pages whose former content is kept: all with a new page size.
    private var changedPages: [UInt32] {
        let lockPage = Self.lockPage(old.pageSize)
        guard old.pageSize == new.pageSize else { return (1...old.pageCount).filter { $0 != lockPage } }
        let cut = new.pageCount < old.pageCount ? Array(new.pageCount + 1...old.pageCount) : []
        return (spool.pages + zeros).filter { $0 <= old.pageCount && $0 != lockPage } + cut.filter { $0 != lockPage }
    }

    private func write(_ bytes: [UInt8], _ descriptor: Int32, _ offset: Int64) throws {
        try bytes.withUnsafeBytes { try Files.write(descriptor, $0, at: offset, journal) }
    }

    // MARK: The new state

    private func writePages(_ locks: DatabaseLocks) throws {
        var page = [UInt8](repeating: 0, count: Int(new.pageSize))
        try page.withUnsafeMutableBytes { buffer in
            for number in zeros { try locks.write(number, UnsafeRawBufferPointer(buffer)) }
            for number in spool.pages {
                try spool.read(number, into: buffer)
                try locks.write(number, UnsafeRawBufferPointer(buffer))
            }
        }
        try locks.resize(to: Int64(new.pageCount) * Int64(new.pageSize))
        try locks.sync()
    }

    private func writeSidecars() throws {
        for kind in Sidecars.Kind.allCases {
            let sidecar = path + kind.suffix, wanted = new.sidecars.contents[kind]
            guard try Files.read(sidecar) != wanted else { continue }
            if let wanted {
                _ = try Files.publish(wanted, as: sidecar, partial: sidecar + "-partial")
            } else if unlink(sidecar) != 0 {
                throw Files.failure(sidecar, "it can't be removed")
            }
        }
    }
}
