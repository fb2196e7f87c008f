import ArgumentParser
import Foundation
import Strongroom

/// The options for a database with another format than SQLCipher 4's, or with its salt elsewhere.
struct FormatOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The version of SQLCipher that made the database: 1, 2, 3 or 4. Default: 4.", valueName: "n"))
    var sqlcipherVersion: Int?

    @Option(
        help: ArgumentHelp(
            "The page size of the database in bytes. Default: the usual size of its format.", valueName: "bytes"))
    var pageSize: Int?

    @Option(
        help: ArgumentHelp(
            """
            Read the salt of a database with a plaintext header from this file: 16 bytes, 32 hexadecimal digits, or a \
            -salt file of Strongroom. Default: the -salt file beside the database.
            """, valueName: "file"), completion: .file())
    var saltFile: String?

    @Option(
        help: ArgumentHelp(
            """
            With --salt-file, the size of the plaintext header in bytes. Default: 32, or the size in the salt file.
            """, valueName: "bytes"))
    var headerSize: Int?

    @Option(
        help: ArgumentHelp("The identifier or the label of the key slot to try first.", valueName: "slot"),
        completion: .custom(SlotNames.completions))
    var keyHint: String?

    func validate() throws {
        guard (1...4).contains(sqlcipherVersion ?? 4) else {
            throw ValidationError("--sqlcipher-version is 1, 2, 3 or 4.")
        }
        if let pageSize { try Self.validate(pageSize: pageSize, of: "--page-size") }
        if let headerSize {
            guard saltFile != nil else { throw ValidationError("--header-size goes with --salt-file.") }
            guard headerSize % 16 == 0, (16...96).contains(headerSize) else {
                throw ValidationError("--header-size is a multiple of 16 from 16 to 96.")
            }
        }
    }

    /// True if an option states the format, or the place of the salt.
    var isGiven: Bool {
        sqlcipherVersion != nil || pageSize != nil || saltFile != nil || headerSize != nil || keyHint != nil
    }

    static func validate(pageSize: Int, of option: String) throws {
        guard (1024...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            throw ValidationError("\(option) is a power of two from 1024 to 65536.")
        }
    }

    var settings: CipherSettings { settings(ofVersion: sqlcipherVersion ?? 4) }

    /// Returns the settings of a version of SQLCipher, with the page size that was given, if any.
    func settings(ofVersion version: Int) -> CipherSettings {
        var settings: CipherSettings =
            switch version {
            case 1: .sqlcipher1
            case 2: .sqlcipher2
            case 3: .sqlcipher3
            default: .sqlcipher4
            }
        if let pageSize { settings.pageSize = pageSize }
        return settings
    }

    /// Returns the settings for `database`, with the page size of a plaintext header.
    func settings(of database: DatabaseFile.Inspection) -> CipherSettings {
        var settings = settings
        if pageSize == nil, database.kind == .plaintextHeader, let shown = database.pageSize {
            settings.pageSize = shown
        }
        return settings
    }

    /// Returns a plaintext header whose salt was given; nil without --salt-file.
    func header() throws -> PlaintextHeader? {
        guard let saltFile else { return nil }
        let file = try GivenSalt(path: saltFile)
        return PlaintextHeader(size: headerSize ?? file.header ?? 32, salt: .provided(file.salt))
    }
}

/// The salt in the file that an option names.
private struct GivenSalt {
    var salt: [UInt8]
    /// The size of the plaintext header, if the file states it.
    var header: Int?

    init(path: String) throws {
        guard access(path, R_OK) == 0 else { throw Failure(errno: errno, ofKeyFile: path, holding: "salt") }
        guard let content = FileManager.default.contents(atPath: path) else {
            throw Failure(errno: EISDIR, ofKeyFile: path, holding: "salt")
        }
        let lines = String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.split(separator: " ")
        }
        if content.count == 16 {
            self.init(salt: Array(content))
        } else if lines.first == ["Strongroom", "salt", "1"], let salt = Self.bytes(Self.value("salt", lines)) {
            self.init(salt: salt, header: Self.value("header", lines).flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil })
        } else if lines.count == 1, lines[0].count == 1, let salt = Self.bytes(lines[0][0]) {
            self.init(salt: salt)
        } else {
            throw Failure(
                .other, keyFile: path, "this is not a salt; nothing was changed",
                remedy: "Give a file of 16 bytes, of 32 hexadecimal digits, or a -salt file of Strongroom")
        }
    }

    private init(salt: [UInt8], header: Int? = nil) { (self.salt, self.header) = (salt, header) }

    /// Returns the last value, which counts. Those before it belong to former salts.
    private static func value(_ name: String, _ lines: [[Substring]]) -> Substring? {
        lines.last { $0.count == 2 && $0[0] == name }?[1]
    }

    private static func bytes(_ digits: Substring?) -> [UInt8]? {
        guard let digits, digits.utf8.count == 32, digits.allSatisfy(\.isHexDigit) else { return nil }
        return stride(from: 0, to: 32, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }
}
