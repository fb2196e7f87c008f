import CStrongroomFaults
import Foundation

/// Bytes that stand nowhere in the open, so that a search for them does not find itself.
struct MaskedBytes {
    let masked: [UInt8]
    let mask: UInt8

    static func random(_ count: Int) -> MaskedBytes {
        MaskedBytes(masked: (0..<count).map { _ in UInt8.random(in: 0...255) }, mask: 0x55)
    }

    /// One after the other, kept by no object.
    var bytes: some Collection<UInt8> { masked.lazy.map { [mask] in $0 ^ mask } }

    func suffix(_ count: Int) -> MaskedBytes { MaskedBytes(masked: masked.suffix(count), mask: mask) }

    /// The bytes as they are masked, which do stand in the open.
    var asMasked: MaskedBytes { MaskedBytes(masked: masked, mask: 0) }

    /// Their hexadecimal digits, masked as well.
    func digits(isUppercase: Bool) -> MaskedBytes {
        let letters = UInt8(ascii: isUppercase ? "A" : "a")
        return MaskedBytes(
            masked: masked.flatMap { byte in
                [(byte ^ mask) >> 4, (byte ^ mask) & 15].map {
                    ($0 < 10 ? UInt8(ascii: "0") + $0 : letters + $0 - 10) ^ mask
                }
            }, mask: mask)
    }
}

/// The memory of this process that can be written, as Linux shows it.
enum ProcessMemory {
    static var isShown: Bool { FileManager.default.fileExists(atPath: "/proc/self/smaps") }

    /// - parameter dumpableOnly: whether memory is left out that a core dump would not have.
    static func contains(_ needle: MaskedBytes, dumpableOnly: Bool = false) throws -> Bool {
        let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
        let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 1)
        defer {
            chunk.initializeMemory(as: UInt8.self, repeating: 0)
            chunk.deallocate()
        }
        for range in try ranges(dumpableOnly: dumpableOnly) {
            var start = range.lowerBound
            while start < range.upperBound {
                let length = min(chunk.count, Int(range.upperBound - start))
                // A match in the chunk itself is a trace of the search.
                let own = UInt64(UInt(bitPattern: chunk.baseAddress!))
                if !(start..<start + UInt64(length)).overlaps(own..<own + UInt64(chunk.count)) {
                    let count = pread(memory.fileDescriptor, chunk.baseAddress!, length, off_t(start))
                    if count > 0, find(needle, in: UnsafeRawBufferPointer(rebasing: chunk[..<count])) { return true }
                }
                // A match across the border of two chunks is found, too.
                start += UInt64(length == chunk.count ? length - needle.masked.count : length)
            }
        }
        return false
    }

    /// True if this process may lock a megabyte.
    static var canBeLocked: Bool {
        let limits = (try? String(contentsOfFile: "/proc/self/limits", encoding: .utf8)) ?? ""
        let line = limits.split(separator: "\n").first { $0.hasPrefix("Max locked memory") }
        guard let limit = line?.split(separator: " ").dropFirst(3).first else { return false }
        return limit == "unlimited" || Int(limit).map { $0 >= 1 << 20 } == true
    }

    static func lockedKilobytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmLck:") }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }

    /// <https://www.kernel.org/doc/html/latest/filesystems/proc.html>
    private static func ranges(dumpableOnly: Bool) throws -> [Range<UInt64>] {
        let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/smaps")).readToEnd() ?? Data()
        var ranges: [Range<UInt64>] = [], latest: Range<UInt64>?
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
            if bounds.count == 2 {
                latest = words[1].hasPrefix("rw") ? bounds[0]..<bounds[1] : nil
            } else if words[0] == "VmFlags:", let found = latest {
                let isDumpable = !words.contains("dd") && !words.contains("io")
                if isDumpable || !dumpableOnly { ranges.append(found) }
            }
        }
        return ranges
    }

    private static func find(_ needle: MaskedBytes, in bytes: UnsafeRawBufferPointer) -> Bool {
        strongroom_faults_find_masked(
            bytes.baseAddress, Int64(bytes.count), needle.masked, Int64(needle.masked.count), needle.mask)
    }
}
