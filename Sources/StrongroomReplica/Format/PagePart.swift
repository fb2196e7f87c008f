/// Pages in an object: their numbers, ascending, and their bytes.
struct PagePart {
    static let magic: StaticString = "SRPAGES1"

    let pageSize: Int
    let numbers: [UInt32]
    let bytes: [UInt8]
    private let start: Int

    /// Reads a part whose digest was checked.
    init(_ bytes: [UInt8], pageSize: UInt32) throws {
        var reader = ByteReader(bytes)
        try reader.expect(Self.magic)
        let size: UInt32 = try reader.number(), count: UInt32 = try reader.number()
        guard size == pageSize, Int(count) <= reader.rest / 4 else { throw ByteReader.Ended() }
        var numbers: [UInt32] = []
        for _ in 0..<count { numbers.append(try reader.number()) }
        let isAscending = zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        guard isAscending, numbers.first != 0, reader.rest == Int(count) * Int(size) else { throw ByteReader.Ended() }
        self.pageSize = Int(size)
        self.numbers = numbers
        self.bytes = bytes
        start = reader.offset
    }

    func withPages(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { all in
            for (index, number) in numbers.enumerated() {
                let from = start + index * pageSize
                try body(number, UnsafeRawBufferPointer(rebasing: all[from..<from + pageSize]))
            }
        }
    }

    /// Calls `body` with the bytes of pages that follow each other, and the number of the first one.
    func withRuns(_ body: (UInt32, UnsafeRawBufferPointer) throws -> Void) rethrows {
        try bytes.withUnsafeBytes { all in
            var first = 0
            for index in numbers.indices
            where index + 1 == numbers.count || numbers[index + 1] != numbers[index] + 1 {
                let range = start + first * pageSize..<start + (index + 1) * pageSize
                try body(numbers[first], UnsafeRawBufferPointer(rebasing: all[range]))
                first = index + 1
            }
        }
    }

    /// Returns the bytes of a part with these pages.
    static func make(
        _ numbers: ArraySlice<UInt32>, pageSize: Int,
        reading read: (UInt32, UnsafeMutableRawBufferPointer) throws -> Void
    ) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.add(magic)
        writer.add(UInt32(pageSize))
        writer.add(UInt32(numbers.count))
        for number in numbers { writer.add(number) }
        var bytes = writer.bytes
        var offset = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: numbers.count * pageSize))
        try bytes.withUnsafeMutableBytes { all in
            for number in numbers {
                try read(number, UnsafeMutableRawBufferPointer(rebasing: all[offset..<offset + pageSize]))
                offset += pageSize
            }
        }
        return bytes
    }
}
