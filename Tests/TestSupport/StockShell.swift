import Foundation

/// The `sqlcipher` shell as its makers ship it, on a database: the judge of what Strongroom writes, and the author of
/// what it reads.
public struct StockShell: Sendable {
    public let path: String

    /// The statements that set the key. What they answer is not shown.
    public let keying: String

    public init(path: String, keying: String = "") {
        self.path = path
        self.keying = keying.isEmpty ? "" : ".output /dev/null\n\(keying)\n.output stdout\n"
    }

    /// Without a passphrase, the database is a clear one. Set-up comes after the key, before the first read.
    public init(path: String, passphrase: String?, setUp: String = "") {
        let quoted = passphrase?.replacingOccurrences(of: "'", with: "''")
        self.init(path: path, keying: quoted.map { "PRAGMA key = '\($0)'; \(setUp)" } ?? setUp)
    }

    public init(path: String, rawKey: RawKey) {
        self.init(path: path, keying: "PRAGMA key = \"x'\(rawKey.digits)'\";")
    }

    public static let arguments = ["-batch", "-init", "/dev/null"]

    public func start() throws -> RunningShell { try RunningShell(self) }

    /// Runs statements in a process of their own, and returns the lines of the answer, errors included.
    public func lines(_ sql: String) throws -> [String] { try start().run(sql) }
}

/// A stock shell in a process of its own, with its connection and its locks.
public final class RunningShell {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    fileprivate init(_ shell: StockShell) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["sqlcipher"] + StockShell.arguments + [shell.path]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        if !shell.keying.isEmpty { try run(shell.keying) }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Runs statements, and returns the lines of the answer, errors included, once the shell has run them all.
    @discardableResult
    public func run(_ sql: String) throws -> [String] {
        let marker = "done-\(UUID().uuidString)"
        try input.fileHandleForWriting.write(contentsOf: Data("\(sql)\n.print \(marker)\n".utf8))
        var text = ""
        while !text.contains(marker) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            text += String(decoding: data, as: UTF8.self)
        }
        return text.split(separator: "\n").map(String.init).filter { $0 != marker }
    }

    /// Ends the process without a chance to clean up.
    public func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
