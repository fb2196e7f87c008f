import Foundation

/// The record of a backup, in a file beside its database: where the database was, its format, and each file with its
/// size and its SHA-256. A folder with a record is a complete backup.
package struct BackupRecord: Equatable, Sendable {
    struct File: Equatable, Sendable {
        var name: String
        var size: Int64
        /// The SHA-256 in hexadecimal digits.
        var digest: String
    }

    /// The path of the database that was copied.
    package let source: String
    let settings: CipherSettings
    /// The size of the plaintext header in bytes.
    let headerSize: Int
    let slotCount: Int
    /// The files of the copy, the database last.
    let files: [File]

    static let fileName = CopyStaging.recordName
    static let partialName = fileName + "-partial"
    /// The empty file that marks the folder until the record is there.
    static let markName = CopyStaging.markName
    static let largestSize = 1 << 16
    private static let title = "Strongroom backup 1"

    /// The database.
    var database: File { files.last! }

    /// Returns the size of all files in bytes.
    var size: Int64 { files.reduce(0) { $0 + $1.size } }
}

// MARK: - A copy

extension BackupRecord {
    /// Reads the files of a finished copy.
    init(ofCopy path: String, source: String, _ settings: CipherSettings, headerSize: Int) throws {
        (self.source, self.settings, self.headerSize) = (source, settings, headerSize)
        slotCount = try SlotFiles(database: path).read(.current)?.slots.count ?? 0
        let beside = CompanionFile.allCases.filter(\.isPublished).map { $0.path(of: path) }.filter(NamedFile.exists)
        files = try (beside + [path]).map { try BackupContent($0).file() }
    }

    /// Refuses the name of a database that would be taken for a file of the backup itself.
    static func requireFit(_ name: String) throws {
        guard !name.hasPrefix("strongroom-"), !name.hasPrefix(".strongroom-") else {
            throw DatabaseError(
                refusing: "a backup of \(name) would have a file with that name for itself",
                advice: "give the database another name")
        }
    }

    /// Writes the record beside the database of the copy, in the place of the mark. The record and the names of all
    /// files are on the disk when it returns.
    func write(in folder: String) throws {
        var error = text.withUnsafeBytes {
            NamedFile.create(folder + "/" + Self.fileName, partial: folder + "/" + Self.partialName, $0)
        }
        if error == 0 { error = NamedFile.remove(folder + "/" + Self.markName) }
        guard error == 0 else { throw CopyStaging.failure("write the record of a backup in \(folder)", error) }
    }

    /// Returns the record in a folder. Nil if there is none, or not a whole one.
    static func read(in folder: String) -> BackupRecord? {
        var bytes = [UInt8](repeating: 0, count: largestSize)
        let count = NamedFile.read(folder + "/" + fileName, settled: false, into: &bytes)
        return count > 0 ? BackupRecord(text: Array(bytes.prefix(Int(count)))) : nil
    }
}

// MARK: - Text

extension BackupRecord {
    var text: [UInt8] {
        let digests = [settings.kdfAlgorithm, settings.hmacAlgorithm].map { $0.map { "sha\($0.rawValue)" } ?? "none" }
        var lines = [
            Self.title, "source \(Self.escaped(source))",
            "settings \(settings.pageSize) \(settings.kdfIterations) \(digests[0]) \(digests[1])",
            "header \(headerSize)", "slots \(slotCount)",
        ]
        lines += files.map { "file \($0.size) \($0.digest) \(Self.escaped($0.name))" }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    init?(text: [UInt8]) {
        guard text.last == UInt8(ascii: "\n"), let whole = String(bytes: text, encoding: .utf8) else { return nil }
        var lines = whole.lineParts.dropLast()
        func next(_ name: String) -> Substring? { lines.popFirst()?.remainder(after: name + " ") }
        guard lines.popFirst()?.hasBytes(of: Self.title) == true, let source = next("source").flatMap(Self.unescaped),
            let settings = next("settings").flatMap(Self.settings),
            let header = next("header").flatMap({ Int($0) }), header == 0 || PlaintextHeader.isValid(size: header),
            let slots = next("slots").flatMap({ Int($0) }), slots >= 0
        else { return nil }
        var files: [File] = []
        while !lines.isEmpty {
            guard let file = next("file").flatMap(Self.file) else { return nil }
            files.append(file)
        }
        (self.source, self.settings, headerSize, slotCount, self.files) = (source, settings, header, slots, files)
        guard hasFitNames else { return nil }
    }

    /// True if the files are a database and some of what belongs to it: no name leads out of the folder.
    private var hasFitNames: Bool {
        guard let last = files.last?.name, !last.isEmpty, last != ".", last != "..",
            !last.utf8.contains(UInt8(ascii: "/")), !last.utf8.contains(0), (try? Self.requireFit(last)) != nil
        else { return false }
        let beside = CompanionFile.allCases.filter(\.isPublished).map { $0.path(of: last) }
        let names = files.dropLast().map { Array($0.name.utf8) }
        return names.allSatisfy(beside.map { Array($0.utf8) }.contains) && Set(names).count == names.count
    }

    private static func file(_ line: Substring) -> File? {
        let parts = line.utf8.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard parts.count == 3, let size = Int64(parts[0]), size >= 0, parts[1].utf8.count == 64,
            parts[1].allSatisfy(\.isHexDigit), let name = unescaped(parts[2])
        else { return nil }
        return File(name: name, size: size, digest: String(parts[1]))
    }

    private static func settings(_ line: Substring) -> CipherSettings? {
        let parts = line.split(separator: " ")
        func algorithm(_ text: Substring) -> CipherSettings.Algorithm? {
            text.hasPrefix("sha") ? Int(text.dropFirst(3)).flatMap(CipherSettings.Algorithm.init) : nil
        }
        guard parts.count == 4, let pageSize = Int(parts[0]), let rounds = Int(parts[1]), let kdf = algorithm(parts[2])
        else { return nil }
        let hmac = algorithm(parts[3])
        guard hmac != nil || parts[3] == "none" else { return nil }
        let settings = CipherSettings(
            pageSize: pageSize, kdfIterations: rounds, kdfAlgorithm: kdf, hmacAlgorithm: hmac)
        return (try? settings.validate()) == nil ? nil : settings
    }

    // A path may contain a line break.

    private static let escape = UInt8(ascii: "\\"), lineFeed = UInt8(ascii: "\n")

    private static func escaped(_ text: String) -> String {
        text.replacing(ascii: "\\", with: "\\\\").replacing(ascii: "\n", with: "\\n")
    }

    private static func unescaped(_ text: Substring) -> String? {
        var plain: [UInt8] = [], isEscape = false
        for byte in text.utf8 {
            switch (isEscape, byte) {
            case (false, escape): isEscape = true
            case (true, UInt8(ascii: "n")): (plain, isEscape) = (plain + [lineFeed], false)
            case (true, escape): (plain, isEscape) = (plain + [escape], false)
            case (true, _): return nil
            case (false, _): plain.append(byte)
            }
        }
        return isEscape ? nil : String(decoding: plain, as: UTF8.self)
    }
}
