import Foundation

extension StringProtocol {
    /// Returns true if both have the same bytes. Names of files are bytes: Swift's own comparison takes two names for
    /// one if they differ in the normalization of Unicode.
    func hasBytes(of other: some StringProtocol) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        // Swift compares the views byte by byte, with a call for each.
        let areEqual = utf8.withContiguousStorageIfAvailable { bytes in
            other.utf8.withContiguousStorageIfAvailable { others in
                bytes.isEmpty || memcmp(bytes.baseAddress!, others.baseAddress!, bytes.count) == 0
            }
        }
        return areEqual.flatMap { $0 } ?? utf8.elementsEqual(other.utf8)
    }
}

extension Substring {
    /// Returns what follows `beginning`. Nil if the text doesn't begin with its bytes. A mark after the beginning does
    /// not belong to its last letter.
    func remainder(after beginning: String) -> Substring? {
        utf8.starts(with: beginning.utf8) ? Substring(utf8.dropFirst(beginning.utf8.count)) : nil
    }
}

extension String {
    /// The lines between the line feeds, empty ones included. A carriage return is a part of its line.
    var lineParts: [Substring] {
        utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Substring($0) }
    }
}
