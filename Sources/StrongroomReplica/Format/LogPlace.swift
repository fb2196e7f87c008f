import CStrongroomReplica

/// A place in a write-ahead log, as restore points record it.
struct LogPlace: Hashable, Sendable, Codable {
    var frame: UInt32
    var pageSize: UInt32
    var checksum: [UInt32]
    var salts: [UInt8]
    var isBigEndian: Bool

    static let size = 28

    init(_ cursor: replica_cursor) {
        frame = cursor.frame
        pageSize = cursor.page_size
        checksum = [cursor.checksum.0, cursor.checksum.1]
        salts = withUnsafeBytes(of: cursor.salts) { Array($0) }
        isBigEndian = cursor.is_big_endian
    }

    var cursor: replica_cursor {
        var cursor = replica_cursor()
        cursor.frame = frame
        cursor.page_size = pageSize
        cursor.checksum = (checksum[0], checksum[1])
        withUnsafeMutableBytes(of: &cursor.salts) { $0.copyBytes(from: salts.prefix(8)) }
        cursor.is_big_endian = isBigEndian
        return cursor
    }
}

extension LogPlace {
    init(_ reader: inout ByteReader) throws {
        frame = try reader.number()
        pageSize = try reader.number()
        checksum = [try reader.number(), try reader.number()]
        salts = try reader.take(8)
        isBigEndian = try reader.number(UInt32.self) != 0
    }

    func write(_ writer: inout ByteWriter) {
        writer.add(frame)
        writer.add(pageSize)
        for sum in checksum { writer.add(sum) }
        writer.add(salts)
        writer.add(UInt32(isBigEndian ? 1 : 0))
    }
}
