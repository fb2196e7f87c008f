import Foundation
import Testing

/// The distribution's own `sqlcipher` shell, in a process of its own: what we write must be SQLCipher's format, and
/// what it writes must open here.
final class StockShell {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Opens `path` with a passphrase; `setUp` comes before the first read.
    init(_ path: String, key: String? = "correct horse", setUp: String = "PRAGMA kdf_iter = 1000;") throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlcipher", "-batch", path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        if let key { try run("PRAGMA key = \"\(key)\"; \(setUp)") }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Runs statements, and gives what the shell answered once it has run them all.
    @discardableResult
    func run(_ sql: String) throws -> [String] {
        let marker = "done-\(UUID().uuidString)"
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql)\n.print \(marker)\n".utf8))
        var text = ""
        while !text.contains(marker) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.split(separator: "\n").map(String.init).filter { $0 != marker && $0 != "ok" }
    }

    /// Ends the process without a chance to clean up.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// Runs statements in a shell of their own.
func stockShell(
    _ path: String, key: String? = "correct horse", setUp: String = "PRAGMA kdf_iter = 1000;", _ sql: String
) throws -> [String] {
    try StockShell(path, key: key, setUp: setUp).run(sql)
}
