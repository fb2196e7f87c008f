/// A version of SQLCipher, as far as its behaviour depends on it.
struct SQLCipherVersion: Comparable, Sendable {
    let major, minor: Int

    init(_ major: Int, _ minor: Int) {
        (self.major, self.minor) = (major, minor)
    }

    /// Creates a version from an answer of `PRAGMA cipher_version`, such as "4.6.1 community". Nil if it is none.
    init?(answer: String) {
        let numbers = answer.split { $0 == "." || $0 == " " }.prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return nil }
        self.init(numbers[0], numbers[1])
    }

    static func < (left: SQLCipherVersion, right: SQLCipherVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// The oldest version that Strongroom accepts.
    static let oldest = SQLCipherVersion(4, 5)
}
