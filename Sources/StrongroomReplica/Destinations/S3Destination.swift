import Foundation

/// A destination that is a bucket with a prefix, at any service that speaks S3.
final class S3Destination: Destination, @unchecked Sendable {
    let name: String
    let requestsAtOnce = 8
    private let options: S3Options
    private let environment: [String: String]
    private let scheme: String
    private let host: String
    /// The encoded path of the bucket, without the last slash.
    private let bucketPath: String
    private let prefix: String
    private let region: String
    private let transfer: Transfer

    init(
        _ name: String, _ options: S3Options, environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        let rest = name.dropFirst("s3://".count)
        let bucket = String(rest.prefix { $0 != "/" })
        let path = rest.dropFirst(bucket.count).split(separator: "/").joined(separator: "/")
        let isBucket = bucket.utf8.count >= 3 && bucket.utf8.allSatisfy { Self.isBucketByte($0) }
        guard isBucket, !path.contains("?"), !path.contains("#"), !path.contains("@") else {
            throw ReplicaError(
                .invalidDestination, name, "it is no bucket with a prefix; nothing was sent. Give s3://BUCKET/PREFIX.")
        }
        self.name = path.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(path)"
        self.options = options
        self.environment = environment
        prefix = path.isEmpty ? "" : path + "/"
        region = options.region ?? environment["AWS_REGION"] ?? environment["AWS_DEFAULT_REGION"] ?? "us-east-1"
        let given = options.endpoint ?? environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"]
        let endpoint = given ?? "https://s3.\(region).amazonaws.com"
        (scheme, host, bucketPath) = try Self.place(endpoint, bucket, options.style ?? (given == nil ? .host : .path))
        let authorities = options.authorities ?? environment["AWS_CA_BUNDLE"].flatMap { $0.isEmpty ? nil : $0 }
        transfer = try Transfer(authorities: authorities, timeout: options.timeout)
    }

    private static func isBucketByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func place(
        _ endpoint: String, _ bucket: String, _ style: S3Options.Style
    ) throws -> (scheme: String, host: String, path: String) {
        guard let separator = endpoint.range(of: "://") else { throw invalid(endpoint) }
        let scheme = endpoint[..<separator.lowerBound].lowercased(), rest = endpoint[separator.upperBound...]
        let host = String(rest.prefix { $0 != "/" })
        let path = rest.dropFirst(host.count).split(separator: "/").map { "/" + $0 }.joined()
        let isHost = !host.isEmpty && !host.contains("@") && !rest.contains("?") && !rest.contains("#")
        guard isHost, scheme == "https" || scheme == "http" else { throw invalid(endpoint) }
        switch style {
        case .path: return (scheme, host, "\(path)/\(bucket)")
        case .host: return (scheme, "\(bucket).\(host)", path)
        }
    }

    private static func invalid(_ endpoint: String) -> ReplicaError {
        // It may contain a password.
        ReplicaError(
            .invalidDestination, nil,
            "the endpoint is no URL of a service; nothing was sent. Give https://HOST, or http://HOST:PORT.")
    }

    func another() throws -> any Destination { try S3Destination(name, options, environment: environment) }

    // MARK: Objects

    func put(_ name: String, _ bytes: [UInt8]) throws {
        let answer = try send("PUT", name, body: bytes)
        guard answer.status == 200 else { throw failure(answer, name) }
    }

    func get(_ name: String) throws -> [UInt8]? {
        let answer = try send("GET", name)
        if answer.status == 404, S3XML.value("Code", in: answer.body) != "NoSuchBucket" { return nil }
        guard answer.status == 200 else { throw failure(answer, name) }
        return answer.body
    }

    func delete(_ names: [String]) throws {
        for name in names {
            let answer = try send("DELETE", name)
            guard [200, 204, 404].contains(answer.status) else { throw failure(answer, name) }
        }
    }

    func list(_ prefix: String, after: String?) throws -> [StoredObject] {
        var found: [StoredObject] = []
        try listPages(prefix, after: after, delimiter: nil) { page in
            for entry in S3XML.elements("Contents", in: page) {
                guard let key = S3XML.value("Key", in: entry), key.hasPrefix(self.prefix) else { continue }
                let size = S3XML.value("Size", in: entry).flatMap { Int($0) } ?? 0
                found.append(StoredObject(name: String(key.dropFirst(self.prefix.count)), size: size))
            }
        }
        return found.sorted { $0.name < $1.name }
    }

    func folders(_ prefix: String) throws -> [String] {
        var found: [String] = []
        try listPages(prefix, after: nil, delimiter: "/") { page in
            for entry in S3XML.elements("CommonPrefixes", in: page) {
                guard let key = S3XML.value("Prefix", in: entry), key.hasPrefix(self.prefix + prefix) else { continue }
                found.append(String(key.dropFirst(self.prefix.count + prefix.count).prefix { $0 != "/" }))
            }
        }
        return found.sorted()
    }

    private func listPages(
        _ prefix: String, after: String?, delimiter: String?, _ body: ([UInt8]) throws -> Void
    ) throws {
        var token: String?
        repeat {
            var query = [(name: "list-type", value: "2"), (name: "prefix", value: self.prefix + prefix)]
            if let after { query.append(("start-after", self.prefix + after)) }
            if let delimiter { query.append(("delimiter", delimiter)) }
            if let token { query.append(("continuation-token", token)) }
            let answer = try send("GET", nil, query: query)
            guard answer.status == 200 else { throw failure(answer, name) }
            try body(answer.body)
            let isTruncated = S3XML.value("IsTruncated", in: answer.body) == "true"
            token = isTruncated ? S3XML.value("NextContinuationToken", in: answer.body) : nil
        } while token != nil
    }

    // MARK: Requests

    /// The pauses between attempts, in microseconds.
    private static let pauses: [useconds_t] = [100_000, 400_000]

    /// Sends a request, up to three times if the service does not answer or says that it can't now. Each request can be
    /// repeated: it has the same effect.
    private func send(
        _ method: String, _ object: String?, query: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) throws -> Transfer.Answer {
        var attempt = 0
        while true {
            let (answer, error) = try sendOnce(method, object, query, body)
            if let answer, answer.status < 500, answer.status != 429 { return answer }
            guard attempt < Self.pauses.count else {
                guard let answer else {
                    throw ReplicaError(.destinationUnavailable, name, "\(error). Check the endpoint and the network.")
                }
                return answer
            }
            usleep(Self.pauses[attempt])
            attempt += 1
        }
    }

    private func sendOnce(
        _ method: String, _ object: String?, _ query: [(name: String, value: String)], _ body: [UInt8]?
    ) throws -> (answer: Transfer.Answer?, error: String) {
        // Read again for each request: they may have been replaced.
        let credentials = try S3Credentials.find(options, environment)
        let path = bucketPath + "/" + (object.map { SignatureV4.encode(prefix + $0, keepingSlashes: true) } ?? "")
        let payload = Digest(of: body ?? []).description, time = Self.time(currentMilliseconds() / 1000)
        var headers = [(name: "host", value: host), (name: "x-amz-content-sha256", value: payload)]
        headers.append(("x-amz-date", time))
        if let token = credentials.token { headers.append(("x-amz-security-token", token)) }
        if body != nil { headers.append(("content-type", "application/octet-stream")) }
        let request = SignatureV4.Request(method: method, path: path, query: query, headers: headers, payload: payload)
        let signature = SignatureV4(credentials: credentials, region: region, service: "s3")
        headers.append(("authorization", try signature.authorization(request, time: time)))
        let text = query.isEmpty ? "" : "?" + SignatureV4.query(query)
        let lines = headers.filter { $0.name != "host" }.map { "\($0.name): \($0.value)" }
        return transfer.send(method, "\(scheme)://\(host)\(path)\(text)", headers: lines, body: body)
    }

    static func time(_ seconds: Int64) -> String {
        var clock = time_t(seconds), parts = tm()
        gmtime_r(&clock, &parts)
        func digits(_ number: Int32, _ count: Int = 2) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1) + digits(parts.tm_mday) + "T"
            + digits(parts.tm_hour) + digits(parts.tm_min) + digits(parts.tm_sec) + "Z"
    }

    private func failure(_ answer: Transfer.Answer, _ object: String) -> ReplicaError {
        let code = S3XML.value("Code", in: answer.body) ?? "no code"
        let said = "the service answered \(answer.status) (\(code))"
        switch answer.status {
        case 401, 403:
            return ReplicaError(.accessDenied, name, "\(said). Check the credentials, their rights, and the clock.")
        case 400 where ["ExpiredToken", "InvalidAccessKeyId", "AuthorizationHeaderMalformed"].contains(code):
            return ReplicaError(.accessDenied, name, "\(said). Check the credentials and the region.")
        case 404: return ReplicaError(.invalidDestination, name, "\(said). Make the bucket, or check its name.")
        case 301, 307: return ReplicaError(.invalidDestination, name, "\(said). Check the region and the endpoint.")
        case 429, 500...: return ReplicaError(.destinationUnavailable, name, "\(said). It will be tried again.")
        default: return ReplicaError(.invalidDestination, name, "\(said) for \(object). Check the endpoint.")
        }
    }
}

/// The few elements of S3's answers.
enum S3XML {
    static func elements(_ name: String, in bytes: [UInt8]) -> [[UInt8]] {
        let opening = Array("<\(name)>".utf8), closing = Array("</\(name)>".utf8)
        var found: [[UInt8]] = [], at = bytes.startIndex
        while let start = first(opening, in: bytes, from: at), let end = first(closing, in: bytes, from: start) {
            found.append(Array(bytes[(start + opening.count)..<end]))
            at = end + closing.count
        }
        return found
    }

    static func value(_ name: String, in bytes: [UInt8]) -> String? {
        elements(name, in: bytes).first.map { decoded(String(decoding: $0, as: UTF8.self)) }
    }

    /// Returns the text with its entities replaced. What is none stays.
    private static func decoded(_ text: String) -> String {
        let parts = text.split(separator: "&", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(String(parts[0])) { text, part in
            guard let end = part.firstIndex(of: ";"), let character = character(part[..<end]) else {
                return text + "&" + part
            }
            return text + String(character) + part[part.index(after: end)...]
        }
    }

    /// Returns the character of an entity. <https://www.w3.org/TR/xml/#sec-references>
    private static func character(_ entity: Substring) -> Character? {
        let names: [Substring: Character] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]
        guard entity.first == "#" else { return names[entity] }
        let digits = entity.dropFirst(), isHexadecimal = digits.lowercased().hasPrefix("x")
        let number = isHexadecimal ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map(Character.init)
    }

    private static func first(_ sought: [UInt8], in bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count - start >= sought.count else { return nil }
        return (start...(bytes.count - sought.count)).first { at in
            bytes[at] == sought[0] && bytes[at..<at + sought.count].elementsEqual(sought)
        }
    }
}
