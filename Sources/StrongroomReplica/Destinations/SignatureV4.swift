import CStrongroom

/// Signature Version 4 of requests.
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>
struct SignatureV4 {
    let credentials: S3Credentials
    let region: String
    let service: String

    struct Request {
        var method: String
        /// Encoded, with its first slash.
        var path: String
        /// Not encoded.
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)]
        /// The digest of the body in hexadecimal digits.
        var payload: String
    }

    /// Returns the value of the header `Authorization`. `time` is in the form `20130524T000000Z`.
    func authorization(_ request: Request, time: String) throws -> String {
        let date = String(time.prefix(8)), scope = "\(date)/\(region)/\(service)/aws4_request"
        let canonical = Self.canonical(request)
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Digest(of: Array(canonical.utf8)))"
        var key = Array("AWS4\(credentials.secret)".utf8)
        defer { key.withUnsafeMutableBytes { strongroom_wipe($0.baseAddress, $0.count) } }
        for part in [date, region, service, "aws4_request"] { key = try Self.hmac(key, part) }
        let signature = try Self.hmac(key, text).hex
        return """
            AWS4-HMAC-SHA256 Credential=\(credentials.id)/\(scope), SignedHeaders=\(Self.names(request)), \
            Signature=\(signature)
            """
    }

    static func canonical(_ request: Request) -> String {
        let query = Self.query(request.query)
        let headers = sorted(request).map { "\($0.name):\($0.value)\n" }.joined()
        return [request.method, request.path, query, headers, names(request), request.payload].joined(separator: "\n")
    }

    /// Returns the query as it is signed, and as it is sent.
    static func query(_ query: [(name: String, value: String)]) -> String {
        query.map { (encode($0.name), encode($0.value)) }.sorted { $0 < $1 }.map { "\($0)=\($1)" }
            .joined(separator: "&")
    }

    private static func names(_ request: Request) -> String {
        var names: [String] = []
        for header in sorted(request) where names.last != header.name { names.append(header.name) }
        return names.joined(separator: ";")
    }

    /// Returns the headers by their names in lowercase, with single spaces. Values of one name are joined.
    private static func sorted(_ request: Request) -> [(name: String, value: String)] {
        var values: [String: [String]] = [:]
        for header in request.headers {
            let words = header.value.split(separator: " ").joined(separator: " ")
            values[header.name.lowercased(), default: []].append(words)
        }
        return values.sorted { $0.key < $1.key }.map { ($0.key, $0.value.joined(separator: ",")) }
    }

    /// Encodes all bytes but letters, digits and `-._~`; with `keepingSlashes` not these either.
    static func encode(_ text: String, keepingSlashes: Bool = false) -> String {
        let kept = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if kept.contains(byte) || keepingSlashes && byte == UInt8(ascii: "/") {
                encoded.append(byte)
            } else {
                encoded += Array("%\([byte].hex.uppercased())".utf8)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static func hmac(_ key: [UInt8], _ text: String) throws -> [UInt8] {
        var out = [UInt8](repeating: 0, count: 32)
        let bytes = Array(text.utf8)
        guard strongroom_hmac(STRONGROOM_SHA256, key, key.count, bytes, bytes.count, &out) == 0 else {
            throw ReplicaError(.system, nil, "the crypto provider refuses HMAC-SHA256; nothing was sent.")
        }
        return out
    }
}
