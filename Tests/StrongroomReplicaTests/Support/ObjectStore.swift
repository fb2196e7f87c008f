import Foundation

/// An S3 server on the loopback: moto, of the Python package index, where it is installed.
final class ObjectStore {
    static let program =
        ["/usr/bin", "/usr/local/bin"].map { $0 + "/moto_server" }
        .first { FileManager.default.isExecutableFile(atPath: $0) } ?? found()

    static var isInstalled: Bool { program != nil }

    private static func found() -> String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { $0 + "/moto_server" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    let endpoint: String
    private let process = Process()

    struct Failure: Error {
        let problem: String
    }

    /// Starts a server, and makes a bucket, `bucket`.
    init() throws {
        let port = try Self.freePort()
        endpoint = "http://127.0.0.1:\(port)"
        process.executableURL = URL(fileURLWithPath: Self.program!)
        process.arguments = ["-H", "127.0.0.1", "-p", "\(port)"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<400 {
            if request("PUT", "/bucket") == 0 { break }
            guard process.isRunning else { throw Failure(problem: "moto_server ended") }
            usleep(50_000)
        }
        guard request("GET", "/bucket") == 0 else { throw Failure(problem: "moto_server does not answer") }
    }

    deinit {
        // Threads of Swift's pool block other signals, and their children inherit that.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private func request(_ method: String, _ path: String) -> Int32 {
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        let script =
            "import sys, urllib.request as r; "
            + "r.urlopen(r.Request(sys.argv[2], method=sys.argv[1], data=b'' if sys.argv[1] == 'PUT' else None))"
        client.arguments = ["python3", "-c", script, method, endpoint + path]
        client.standardError = FileHandle.nullDevice
        try? client.run()
        client.waitUntilExit()
        return client.terminationStatus
    }

    private static func freePort() throws -> UInt16 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 ? getsockname(descriptor, pointer, &size) : -1
            }
        }
        guard result == 0 else { throw Failure(problem: "no free port") }
        return UInt16(bigEndian: address.sin_port)
    }
}
