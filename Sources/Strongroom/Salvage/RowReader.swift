/// The reading of rows, with what stands on overflow pages. All pages of a row are of one time.
struct RowReader {
    let pages: DamagedPages

    enum Outcome {
        case row(StoredRecord)
        /// A page of the row is damaged, or the bytes are no record. With the page, if there is one.
        case broken(Int?)
    }

    /// Returns the row of a cell.
    func row(_ cell: BTreePage.Cell, _ page: BTreePage, _ version: PageVersion) -> Outcome {
        guard cell.payloadSize > cell.local.count else {
            return StoredRecord(page.bytes, in: cell.local).map { .row($0) } ?? .broken(nil)
        }
        // A chain of overflow pages has no mark of its row: only the time proves that they belong together.
        guard !version.isAmbiguous, cell.payloadSize / (pages.usable - 4) <= pages.count else { return .broken(nil) }
        var payload = [UInt8](page.bytes[cell.local])
        payload.reserveCapacity(cell.payloadSize)
        var next = cell.overflow, times = version.times
        while payload.count < cell.payloadSize {
            // Without authenticity, all cells of a file could name the same chain: reading it has an end.
            pages.overflowReadCount += 1
            guard pages.overflowReadCount <= 16 * pages.count + 1000 else { return .broken(nil) }
            guard !pages.has(.visited, next), !pages.isPointerMap(next),
                let found = pages.known(next).first(where: { !$0.isAmbiguous && $0.times.intersection(times) != nil }),
                let bytes = pages.bytes(next, found)
            else { return .broken(next > 0 ? next : nil) }
            times = found.times.intersection(times)!
            payload += bytes[4..<4 + min(pages.usable - 4, cell.payloadSize - payload.count)]
            next = bytes.number32(at: 0)!
            // Only the last page of a row has no next one.
            guard (next == 0) == (payload.count == cell.payloadSize) else { return .broken(nil) }
        }
        return StoredRecord(payload, in: 0..<payload.count).map { .row($0) } ?? .broken(nil)
    }
}
