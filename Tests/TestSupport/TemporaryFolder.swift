import Foundation

/// A folder of its own for one test, removed with it.
public final class TemporaryFolder: Sendable {
    public let path: String

    public init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("strongroom-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    public func path(_ name: String) -> String { path + "/" + name }

    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    // MARK: - Contents

    public func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path(name))) }

    public func text(_ name: String) -> String {
        (try? bytes(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    public func write(_ bytes: some DataProtocol, to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    public func copy(_ name: String, to other: String) throws {
        try FileManager.default.copyItem(atPath: path(name), toPath: path(other))
    }

    /// Turns a bit over at `offset` of a file.
    public func damage(_ name: String, at offset: Int) throws {
        var damaged = try bytes(name)
        damaged[offset] ^= 0x10
        try write(damaged, to: name)
    }

    public func reading(_ name: String) throws -> FileHandle {
        try FileHandle(forReadingFrom: URL(fileURLWithPath: path(name)))
    }

    public func newFile(_ name: String) throws -> FileHandle {
        try write(Data(), to: name)
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path(name)))
    }

    // MARK: - Secrets

    public func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    /// A file with a passphrase, readable by its owner only. Returns its path.
    public func secret(_ text: String, in name: String = "secret", mode: Int = 0o600) throws -> String {
        try write(Data(text.utf8), to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        return path(name)
    }

    /// A file with a raw key, for `--raw-key-file`, readable by its owner only. Returns its path.
    public func rawKey(_ key: RawKey, in name: String = "secret", mode: Int = 0o600) throws -> String {
        try secret(key.digits, in: name, mode: mode)
    }
}
