import Foundation

/// A folder for one test, gone with it.
final class Scratch {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("strongroom-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appendingPathComponent(name)) }

    func text(_ name: String) -> String {
        (try? bytes(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func write(_ bytes: some DataProtocol, to name: String) throws {
        try Data(bytes).write(to: folder.appendingPathComponent(name))
    }

    func reading(_ name: String) throws -> FileHandle {
        try FileHandle(forReadingFrom: folder.appendingPathComponent(name))
    }

    func newFile(_ name: String) throws -> FileHandle {
        try write(Data(), to: name)
        return try FileHandle(forWritingTo: folder.appendingPathComponent(name))
    }

    /// A file with a passphrase, readable by its owner only. Returns its path.
    func secret(_ text: String, in name: String = "secret", mode: Int = 0o600) throws -> String {
        try write(Data(text.utf8), to: name)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path(name))
        return path(name)
    }

    func mode(_ name: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.posixPermissions] as? Int
    }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    /// Turns a bit over at `offset` of a file.
    func damage(_ name: String, at offset: Int) throws {
        var damaged = try bytes(name)
        damaged[offset] ^= 0x10
        try write(damaged, to: name)
    }
}
