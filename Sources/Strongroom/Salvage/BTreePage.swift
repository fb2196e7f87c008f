/// Big-endian numbers in bytes that were not checked: each is nil beyond the end.
extension [UInt8] {
    func number16(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 2 else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    func number32(at offset: Int) -> Int? {
        guard offset >= 0, offset <= count - 4 else { return nil }
        return Int(self[offset]) << 24 | Int(self[offset + 1]) << 16 | Int(self[offset + 2]) << 8
            | Int(self[offset + 3])
    }

    /// Returns the variable-length integer at `offset`, and moves `offset` behind it. Nil beyond `end`.
    /// <https://www.sqlite.org/fileformat2.html#varint>
    func varint(at offset: inout Int, end: Int) -> Int64? {
        guard offset >= 0, end <= count else { return nil }
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset < end else { return nil }
            let byte = self[offset]
            offset += 1
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}

/// The kind of a page of a b-tree, as its first byte gives it.
/// <https://www.sqlite.org/fileformat2.html#b_tree_pages>
enum BTreeKind: UInt8 {
    case indexInterior = 2
    case tableInterior = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
    var isTable: Bool { self == .tableLeaf || self == .tableInterior }
    var headerSize: Int { isLeaf ? 8 : 12 }
}

/// A page of a b-tree, parsed without trust in its bytes.
struct BTreePage {
    let number: Int
    let bytes: [UInt8]
    let usable: Int
    let kind: BTreeKind
    let cellCount: Int
    private let header: Int
    private var rejected: Set<Int> = []

    /// Nil if the bytes can't be those of a b-tree page.
    init?(_ bytes: [UInt8], number: Int, usable: Int) {
        let header = number == 1 ? 100 : 0
        guard usable >= 480, usable <= bytes.count, header + 12 <= usable,
            let kind = BTreeKind(rawValue: bytes[header]),
            let cellCount = bytes.number16(at: header + 3),
            header + kind.headerSize + 2 * cellCount <= usable
        else { return nil }
        (self.bytes, self.number, self.usable) = (bytes, number, usable)
        (self.kind, self.cellCount, self.header) = (kind, cellCount, header)
    }

    /// True if the rest of the header fits, too, and each cell is inside of the content: for pages that nothing else
    /// proves to be of a b-tree.
    var isPlausible: Bool {
        guard let free = bytes.number16(at: header + 1), let shown = bytes.number16(at: header + 5) else {
            return false
        }
        let content = shown == 0 ? 65536 : shown, pointers = header + kind.headerSize + 2 * cellCount
        guard content >= pointers, content <= usable, bytes[header + 7] <= 60,
            free == 0 || (content..<usable).contains(free)
        else { return false }
        return (0..<cellCount).allSatisfy { pointer($0).map { $0 >= content } == true && cell($0) != nil }
    }

    /// True if each byte of the content belongs to one cell, to one free block or to a fragment, and no byte to two, as
    /// SQLite leaves a page: otherwise, cells are missing. <https://www.sqlite.org/fileformat2.html#b_tree_pages>
    var isWhole: Bool {
        guard let shown = bytes.number16(at: header + 5), var block = bytes.number16(at: header + 1) else {
            return false
        }
        let content = shown == 0 ? 65536 : shown
        var used = content + Int(bytes[header + 7]), end = content
        for index in 0..<cellCount {
            guard let extent = cell(index)?.extent, extent.lowerBound >= content else { return false }
            // SQLite gives a cell the room of a free block.
            used += max(4, extent.count)
        }
        while block != 0 {
            guard block >= end, let next = bytes.number16(at: block), let size = bytes.number16(at: block + 2),
                size >= 4,
                block + size <= usable
            else { return false }
            used += size
            (block, end) = (next, block + size)
        }
        return used == usable
    }

    /// Rejects cells that share bytes with others, and keeps as many as it can. In a page that nothing proves,
    /// thousands of cells could be one long row.
    mutating func rejectOverlaps() {
        let cells = (0..<cellCount).compactMap { index in cell(index).map { (index, $0.extent) } }
        var end = 0
        for (index, extent) in cells.sorted(by: { ($0.1.upperBound, $0.0) < ($1.1.upperBound, $1.0) }) {
            if extent.lowerBound < end { rejected.insert(index) } else { end = extent.upperBound }
        }
    }

    /// The last child of an interior page.
    var rightChild: Int? { kind.isLeaf ? nil : bytes.number32(at: header + 8) }

    private func pointer(_ index: Int) -> Int? {
        guard let offset = bytes.number16(at: header + kind.headerSize + 2 * index), offset < usable else { return nil }
        return offset >= header + kind.headerSize + 2 * cellCount ? offset : nil
    }

    /// A cell. <https://www.sqlite.org/fileformat2.html#b_tree_pages>
    struct Cell {
        /// The page of the keys before this cell. Zero on a leaf.
        var child = 0
        /// The rowid. Zero in an index.
        var rowID: Int64 = 0
        /// The size of the payload in bytes. Zero on an interior page of a table.
        var payloadSize = 0
        /// The part of the payload on the page.
        var local = 0..<0
        /// The first overflow page. Zero without one.
        var overflow = 0
        /// All its bytes on the page.
        var extent = 0..<0
    }

    /// Returns a cell. Nil if it isn't inside of the page.
    func cell(_ index: Int) -> Cell? {
        guard index < cellCount, !rejected.contains(index), let start = pointer(index) else { return nil }
        var cell = Cell(), at = start
        if !kind.isLeaf {
            guard let child = bytes.number32(at: at), at + 4 <= usable else { return nil }
            cell.child = child
            at += 4
        }
        if kind != .tableInterior {
            guard let size = bytes.varint(at: &at, end: usable), size >= 0, size <= Int64(Int32.max) else { return nil }
            cell.payloadSize = Int(size)
        }
        if kind.isTable {
            guard let rowID = bytes.varint(at: &at, end: usable) else { return nil }
            cell.rowID = rowID
            if !kind.isLeaf {
                cell.extent = start..<at
                return cell
            }
        }
        let local = localSize(of: cell.payloadSize)
        guard at + local <= usable else { return nil }
        cell.local = at..<at + local
        cell.extent = start..<at + local
        if local < cell.payloadSize {
            guard at + local + 4 <= usable, let next = bytes.number32(at: at + local) else { return nil }
            cell.overflow = next
            cell.extent = start..<at + local + 4
        }
        return cell
    }

    /// Returns the size of the part of a payload that stands on the page.
    private func localSize(of payload: Int) -> Int {
        let most = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
        if payload <= most { return payload }
        let least = (usable - 12) * 32 / 255 - 23
        let wanted = least + (payload - least) % (usable - 4)
        return wanted <= most ? wanted : least
    }
}
