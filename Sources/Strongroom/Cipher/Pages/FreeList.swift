/// The list of the unused pages of a database. <https://www.sqlite.org/fileformat2.html#the_freelist>
struct FreeList {
    let format: PageFormat
    /// Reads the raw bytes of a page. Returns false if it can't be read.
    let read: (_ number: Int, UnsafeMutableRawBufferPointer) throws -> Bool

    /// Returns the leaves of the list that fulfill a condition, up to the first trunk page that is not authentic.
    func leaves(where isWanted: (Int) throws -> Bool) throws -> Set<Int> {
        let size = format.pageSize
        let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        let clear = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer {
            raw.deallocate()
            clear.deallocate()
        }
        func load(_ number: Int) throws -> Bool {
            let page = UnsafeRawBufferPointer(raw)
            return try read(number, raw) && !page.isZero && format.isAuthentic(page, number: number)
                && format.decrypt(page, number: number, length: size, into: clear)
        }
        func number(at offset: Int) -> Int {
            Int(UInt32(bigEndian: clear.load(fromByteOffset: offset, as: UInt32.self)))
        }

        guard try load(1) else { return [] }
        var leaves: Set<Int> = [], visited: Set<Int> = []
        var trunk = number(at: 32)
        while trunk > 1, visited.insert(trunk).inserted, try load(trunk) {
            let count = number(at: 4)
            guard count <= (size - format.reserve) / 4 - 2 else { break }
            for index in 0..<count {
                let leaf = number(at: 8 + 4 * index)
                if try isWanted(leaf) { leaves.insert(leaf) }
            }
            trunk = number(at: 0)
        }
        return leaves
    }
}

extension UnsafeRawBufferPointer {
    /// True if all bytes are zero.
    var isZero: Bool {
        guard count >= 8, loadUnaligned(as: UInt64.self) == 0 else { return allSatisfy { $0 == 0 } }
        return stride(from: 0, to: count - 7, by: 8).allSatisfy {
            loadUnaligned(fromByteOffset: $0, as: UInt64.self) == 0
        }
    }
}
