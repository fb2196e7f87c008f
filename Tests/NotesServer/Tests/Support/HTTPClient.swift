import Foundation

/// A client of HTTP/1.1 over one connection that is kept open, without a library whose latency would be measured.
///
/// Sendable because one thread at a time uses it.
final class HTTPClient: @unchecked Sendable {
    struct Answer {
        let status: Int
        let body: String
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let descriptor: Int32
    private var received: [UInt8] = []

    /// - parameter seconds: the time that an answer may take.
    init(port: Int, timeout seconds: Int = 30) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: seconds, tv_usec: 0), one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else {
            close(descriptor)
            throw Failure(description: "no connection")
        }
    }

    deinit { close(descriptor) }

    func get(_ path: String) throws -> Answer { try send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n") }

    func post(_ path: String, _ json: String) throws -> Answer {
        try send(
            "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(json.utf8.count)\r\n\r\n" + json)
    }

    /// Requests a stream, and calls `event` for each line of data until it returns false.
    func events(_ path: String, _ event: (String) -> Bool) throws {
        try write("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
        while true {
            let line = try line()
            if line.hasPrefix("data: "), !event(String(line.dropFirst(6))) { return }
        }
    }

    private func send(_ request: String) throws -> Answer {
        try write(request)
        let status = try line().split(separator: " ").dropFirst().first.flatMap { Int($0) }
        guard let status else { throw Failure(description: "no status") }
        var length = 0
        while case let header = try line(), !header.isEmpty {
            let parts = header.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.first?.lowercased() == "content-length" { length = Int(parts[1]) ?? 0 }
        }
        while received.count < length { try receive() }
        defer { received.removeFirst(length) }
        return Answer(status: status, body: String(decoding: received.prefix(length), as: UTF8.self))
    }

    private func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        let count = Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        guard count == bytes.count else { throw Failure(description: "the connection is closed") }
    }

    private func line() throws -> String {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                defer { received.removeFirst(end + 1) }
                return String(decoding: received[..<end], as: UTF8.self).trimmingCharacters(in: .newlines)
            }
            try receive()
        }
    }

    private func receive() throws {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { throw Failure(description: "no answer") }
        received += bytes.prefix(count)
    }
}
