/// A rollback journal of a transaction that did not end. Its pages are the committed ones; those that it replaces in
/// the file may be of the transaction.
///
/// Source: <https://www.sqlite.org/fileformat2.html#the_rollback_journal>.
struct DamagedJournal {
    /// The offset of each page in the journal.
    private(set) var offsets: [Int: Int64] = [:]
    /// The pages whose content in the journal is damaged: no committed version of them is left.
    private(set) var lostPages: Set<Int> = []
    /// The size of the database in pages before the transaction. Nil without a transaction to roll back.
    private(set) var pageCount: Int?

    private static let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]

    /// Creates the journal of a database without one.
    init() {}

    init(_ file: UnlockedFile, _ format: PageFormat?, pageSize: Int) {
        if let name = Self.superJournal(of: file), !NamedFile.exists(name) { return }
        var at: Int64 = 0
        var header = [UInt8](repeating: 0, count: 28)
        while header.withUnsafeMutableBytes({ file.read(at: at, into: $0) }), header.starts(with: Self.magic) {
            let sector = Int64(header.number32(at: 20)!), count = header.number32(at: 8)!
            guard (32...65536).contains(sector), header.number32(at: 24) == pageSize else { return }
            if pageCount == nil { pageCount = header.number32(at: 16)! }
            let length = Int64(pageSize) + 8, room = max(0, (file.size - at - sector) / length)
            let records = count == Int(UInt32.max) ? room : min(room, Int64(count))
            let seed = UInt32(header.number32(at: 12)!)
            for index in 0..<records { read(file, at + sector + index * length, seed, format, pageSize) }
            let end = at + sector + records * length
            at = (end + sector - 1) / sector * sector
            if records == 0 || count == Int(UInt32.max) { return }
        }
    }

    /// Returns the size of the database in pages before the transaction, as far as it is proven: the header of a
    /// journal carries no checksum, and must not hide pages.
    ///
    /// - parameter stated: the size that page 1 states, or nil.
    /// - parameter isAuthenticated: true if page 1 is authentic.
    func provenPageCount(stated: Int?, isAuthenticated: Bool) -> Int? {
        guard let pageCount, offsets.keys.allSatisfy({ $0 <= pageCount }) else { return nil }
        guard let stated, stated != pageCount else { return pageCount }
        return isAuthenticated ? stated : nil
    }

    /// Returns the path of the super-journal that the journal names at its end. Its removal has committed the
    /// transaction in all databases of it. Nil if the transaction was one of this database alone.
    private static func superJournal(of file: UnlockedFile) -> String? {
        var end = [UInt8](repeating: 0, count: 16)
        guard file.size > 28 + 16, end.withUnsafeMutableBytes({ file.read(at: file.size - 16, into: $0) }),
            end.suffix(8).elementsEqual(magic), let length = end.number32(at: 0), let sum = end.number32(at: 4),
            (1...4096).contains(length), file.size > 28 + 16 + Int64(length)
        else { return nil }
        var name = [UInt8](repeating: 0, count: length)
        guard name.withUnsafeMutableBytes({ file.read(at: file.size - 16 - Int64(length), into: $0) }),
            name.reduce(UInt32(0), { $0 &+ UInt32(bitPattern: Int32(Int8(bitPattern: $1))) }) == UInt32(sum),
            !name.contains(0)
        else { return nil }
        return String(decoding: name, as: UTF8.self)
    }

    private mutating func read(
        _ file: UnlockedFile, _ offset: Int64, _ seed: UInt32, _ format: PageFormat?, _ pageSize: Int
    ) {
        var record = [UInt8](repeating: 0, count: pageSize + 8)
        guard record.withUnsafeMutableBytes({ file.read(at: offset, into: $0) }) else { return }
        let number = record.number32(at: 0)!
        // The first record of a page is the committed one.
        guard number > 0, offsets[number] == nil, !lostPages.contains(number) else { return }
        let isIntact = record.withUnsafeBytes { raw in
            let page = UnsafeRawBufferPointer(rebasing: raw[4..<4 + pageSize])
            if let format, format.authenticates { return format.isAuthentic(page, number: number) }
            let sum = stride(from: pageSize - 200, to: 0, by: -200).reduce(seed) { $0 &+ UInt32(page[$1]) }
            return sum == UInt32(record.number32(at: pageSize + 4)!)
        }
        if isIntact { offsets[number] = offset + 4 } else { lostPages.insert(number) }
    }
}
