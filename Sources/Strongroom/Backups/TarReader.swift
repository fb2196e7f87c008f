/// A reader of an archive of tar that comes as a stream.
final class TarReader {
    private let source: (UnsafeMutableRawBufferPointer) throws -> Int

    init(_ source: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.source = source
    }

    static func unfit(_ problem: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_CORRUPT, .unfitBackup, "the stream is not a whole backup: \(problem)",
            advice: "write it again with: strongroom backup FILE -")
    }

    /// Returns the header of the next file. Nil at the end of the archive.
    func header() throws -> TarHeader? {
        guard var header = try entry() else { return nil }
        if header.kind == TarHeader.extended {
            guard header.size <= 1 << 16 else { throw Self.unfit("a record is too long") }
            let records = try bytes(of: header)
            guard var next = try entry(), next.apply(records: records) else {
                throw Self.unfit("a record is malformed")
            }
            header = next
        }
        guard header.kind == UInt8(ascii: "0") else { throw Self.unfit("\(header.name) is not a file") }
        return header
    }

    private func entry() throws -> TarHeader? {
        let block = try block()
        if block.allSatisfy({ $0 == 0 }) { return nil }
        guard let header = TarHeader(block: block) else { throw Self.unfit("a header is malformed") }
        return header
    }

    private func block() throws -> [UInt8] {
        var block = [UInt8](repeating: 0, count: TarHeader.blockSize)
        try block.withUnsafeMutableBytes { try fill($0) }
        return block
    }

    /// Returns the content of a short file.
    func bytes(of header: TarHeader) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try forEachPart(of: header) { bytes += $0 }
        return bytes
    }

    /// Calls `body` with the content of a file, part by part.
    func forEachPart(of header: TarHeader, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 8)
        defer { room.deallocate() }
        var left = header.size
        while left > 0 {
            let part = UnsafeMutableRawBufferPointer(rebasing: room.prefix(Int(min(left, 1 << 20))))
            try fill(part)
            try body(UnsafeRawBufferPointer(part))
            left -= Int64(part.count)
        }
        try fill(UnsafeMutableRawBufferPointer(rebasing: room.prefix(TarHeader.padding(after: header.size))))
    }

    /// Reads to the end of the stream: a program that writes into a pipe fails if its reader stops before.
    func drain() throws {
        var rest = [UInt8](repeating: 0, count: 1 << 16)
        while try rest.withUnsafeMutableBytes({ try source($0) }) > 0 {}
    }

    private func fill(_ room: UnsafeMutableRawBufferPointer) throws {
        var rest = room
        while !rest.isEmpty {
            let count = try source(rest)
            guard count > 0 else { throw Self.unfit("it ends too early") }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }
}
