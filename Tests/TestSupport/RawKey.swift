/// A key that is derived from nothing, named as a passphrase would be: for tests in which the derivation is not the
/// subject. A passphrase costs the command and the stock shell 256,000 rounds each time.
public struct RawKey: ExpressibleByStringLiteral, Sendable {
    /// 64 hexadecimal digits, which begin with those of the name.
    public let digits: String

    public init(stringLiteral name: String) { self.init(name) }

    public init(_ name: String) {
        let bytes = Array(name.utf8.prefix(32)) + [UInt8](repeating: 0, count: max(0, 32 - name.utf8.count))
        digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
