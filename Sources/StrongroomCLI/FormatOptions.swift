import ArgumentParser
import Foundation
import Strongroom

/// The format of a database that is not in that of SQLCipher 4, or has its salt elsewhere.
struct FormatOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The version of SQLCipher that the database was made by: 1, 2, 3 or 4 (the default).", valueName: "n"))
    var sqlcipherVersion = 4

    @Option(help: ArgumentHelp("The bytes in a page of the database, where they are not the usual ones of that version.",
                               valueName: "bytes"))
    var pageSize: Int?

    @Option(help: ArgumentHelp("""
        Read the salt of a database with a plaintext header from this file, 16 bytes or 32 hexadecimal digits, \
        instead of the file that is named like the database with -salt at the end.
        """, valueName: "file"), completion: .file())
    var saltFile: String?

    @Option(help: ArgumentHelp("With --salt-file, the bytes at the start of the database that are not encrypted (default: 32).",
                               valueName: "bytes"))
    var headerSize: Int?

    func validate() throws {
        guard (1...4).contains(sqlcipherVersion) else { throw ValidationError("--sqlcipher-version is 1, 2, 3 or 4.") }
        if let pageSize { try Self.validate(pageSize: pageSize, of: "--page-size") }
        if let headerSize {
            guard saltFile != nil else { throw ValidationError("--header-size goes with --salt-file.") }
            guard headerSize % 16 == 0, (16...96).contains(headerSize) else {
                throw ValidationError("--header-size is a multiple of 16 from 16 to 96.")
            }
        }
    }

    static func validate(pageSize: Int, of option: String) throws {
        guard (1024...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            throw ValidationError("\(option) is a power of two from 1024 to 65536.")
        }
    }

    var settings: CipherSettings {
        var settings: CipherSettings = switch sqlcipherVersion {
        case 1: .sqlcipher1
        case 2: .sqlcipher2
        case 3: .sqlcipher3
        default: .sqlcipher4
        }
        if let pageSize { settings.pageSize = pageSize }
        return settings
    }

    /// The same for `database`, whose readable header says what its pages are.
    func settings(of database: DatabaseFile.Inspection) -> CipherSettings {
        var settings = settings
        if pageSize == nil, database.kind == .plaintextHeader, let shown = database.pageSize { settings.pageSize = shown }
        return settings
    }

    /// A plaintext header whose salt was given; nil without --salt-file.
    func header() throws -> PlaintextHeader? {
        try saltFile.map { PlaintextHeader(size: headerSize ?? 32, salt: .provided(try Self.salt(in: $0))) }
    }

    private static func salt(in path: String) throws -> [UInt8] {
        guard access(path, R_OK) == 0, let content = FileManager.default.contents(atPath: path) else {
            throw Failure(errno: errno, file: path, doing: "reading the salt")
        }
        if content.count == 16 { return Array(content) }
        let digits = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .newlines)
        let pairs = stride(from: 0, to: digits.count, by: 2).map { digits.dropFirst($0).prefix(2) }
        let bytes = pairs.compactMap { UInt8($0, radix: 16) }
        guard digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit), bytes.count == 16 else {
            throw Failure(.other, file: path, "this is no salt; nothing was changed", remedy: "Its file has 16 bytes, or 32 hexadecimal digits")
        }
        return bytes
    }
}
