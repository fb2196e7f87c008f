/// A reader of raw pages of the main file, through its connection.
struct PageReader {
    let database: Database
    let pageSize: Int
    let count: Int

    init(_ database: Database, pageSize: Int, fileSize: Int64) {
        self.database = database
        self.pageSize = pageSize
        count = Int(fileSize / Int64(pageSize))
    }

    /// Calls `body` with a page. Nil beyond the end.
    func withPage<R>(_ number: Int, _ body: (UnsafeRawBufferPointer) throws -> R) throws -> R? {
        guard (1...max(count, 1)).contains(number), count > 0 else { return nil }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 8)
        defer { page.deallocate() }
        let offset = Int64(number - 1) * Int64(pageSize)
        try database.check(RawConnection(database.openConnection).readFile(of: "main", at: offset, into: page))
        return try body(UnsafeRawBufferPointer(page))
    }

    func isAuthentic(_ number: Int, _ format: PageFormat) throws -> Bool {
        try withPage(number) { page in
            // A page of zeros proves nothing.
            !page.isZero && format.isAuthentic(page, number: number)
        } ?? false
    }

    /// Returns the numbers of a few pages from the whole file, without the first.
    func sample() -> [Int] {
        guard count > 1 else { return [] }
        let step = max(1, (count - 1) / 8)
        return Array(stride(from: 2, through: count, by: step))
    }
}
