import CStrongroom
import Foundation

/// A salt written beside a database, where the database can't hold it (yet).
///
/// A text file, so that a person with a passphrase and any SQLCipher can get at the data (`PRAGMA cipher_salt`):
///
///     Strongroom salt 1
///     salt 8b0f…
///     header 32
///     former 51c2…
///     check 5d41402a
///
/// `former` lines, newest first, are the salts that the database had before its key changed: they open backups of that time. `header` is the count of bytes at the start of the database that aren't encrypted; `check` tells a torn or edited file. Files
/// appear whole or not at all, with mode 0600, and are on the disk before the database relies on them.
struct SaltFile: Equatable {
    enum Role: String, CaseIterable {
        /// The salt of a database with a plaintext header, for as long as the database lives.
        case permanent = "-salt"
        /// What everyone who finds the database empty agrees to create it with; removed once page 1 carries it.
        case creation = "-salt-new"
        /// The salt that a rotation in progress is bringing in; removed once the database carries it.
        case rotation = "-salt-next"
    }

    var salt: Salt
    var header: Int
    /// What the database had before, newest first.
    var formerSalts: [Salt] = []
    static let mostFormerSalts = 16

    static func path(_ role: Role, of database: String) -> String {
        database + role.rawValue
    }

    // MARK: Reading

    /// Nil if there is none.
    static func read(_ role: Role, of database: String) throws -> SaltFile? {
        let path = path(role, of: database)
        var buffer = [UInt8](repeating: 0, count: 1024)
        let count = buffer.withUnsafeMutableBytes { strongroom_file_read(path, $0.baseAddress, $0.count) }
        if count == -ENOENT || count == -ENOTDIR { return nil }
        guard count >= 0 else { throw failure("read", path, errno: -count) }
        guard let file = SaltFile(text: String(decoding: buffer.prefix(Int(count)), as: UTF8.self)) else {
            throw DatabaseError(
                .SQLITE_CORRUPT, refusing: "the salt file \(path) is damaged",
                advice: "restore it from a backup, or give the salt with PlaintextHeader(salt: .provided(…))", reason: .damagedSalt)
        }
        return file
    }

    init(salt: Salt, header: Int, formerSalts: [Salt] = []) {
        self.salt = salt
        self.header = header
        self.formerSalts = formerSalts
    }

    /// The same salt and header for the database, whatever came before.
    func opensTheSame(as other: SaltFile) -> Bool { salt == other.salt && header == other.header }

    /// The next file of a database that had this one: nothing that opens an older backup is forgotten.
    func followed(by salt: Salt, header: Int) -> SaltFile {
        let former = ([self.salt] + formerSalts).filter { $0 != salt }
        return SaltFile(salt: salt, header: header, formerSalts: Array(former.prefix(Self.mostFormerSalts)))
    }

    private init?(text: String) {
        let lines = text.split(separator: "\n")
        guard (4...4 + SaltFile.mostFormerSalts).contains(lines.count), lines[0] == SaltFile.title,
              let salt = SaltFile.value("salt", lines[1]).flatMap({ Salt(hex: $0) }),
              let header = SaltFile.value("header", lines[2]).flatMap({ Int($0) }),
              // Anyone can compute the check: what follows relies on the size.
              header == 0 || PlaintextHeader.isValid(size: header),
              let check = SaltFile.value("check", lines[lines.count - 1])
        else { return nil }
        let former = lines[3..<lines.count - 1].compactMap { line in SaltFile.value("former", line).flatMap { Salt(hex: $0) } }
        guard former.count == lines.count - 4 else { return nil }
        self.init(salt: salt, header: header, formerSalts: former)
        guard let rightCheck = self.check, check == rightCheck else { return nil }
    }

    private static let title = "Strongroom salt 1"

    private static func value(_ name: String, _ line: Substring) -> Substring? {
        line.hasPrefix(name + " ") ? line.dropFirst(name.count + 1) : nil
    }

    // MARK: Writing

    func write(_ role: Role, of database: String) throws {
        let path = SaltFile.path(role, of: database)
        let error = put(path, exclusive: false)
        guard error == 0 else { throw SaltFile.failure("write", path, errno: error) }
    }

    /// Writes the file unless another connection or process was first; answers the one that counts.
    func agree(_ role: Role, of database: String) throws -> SaltFile {
        let path = SaltFile.path(role, of: database)
        while true {
            let error = put(path, exclusive: true)
            if error == 0 { return self }
            guard error == EEXIST else { throw SaltFile.failure("write", path, errno: error) }
            if let existing = try SaltFile.read(role, of: database) { return existing }
            // Somebody else removed it in between, after the database was created.
        }
    }

    static func remove(_ role: Role, of database: String) throws {
        let path = path(role, of: database)
        let error = strongroom_file_remove(path)
        guard error == 0 else { throw failure("remove", path, errno: error) }
    }

    private func put(_ path: String, exclusive: Bool) -> CInt {
        guard let check else { return EIO }
        let text = Array("\(SaltFile.title)\n\(content)check \(check)\n".utf8)
        return text.withUnsafeBytes { strongroom_file_write(path, $0.baseAddress, $0.count, exclusive) }
    }

    private var content: String {
        "salt \(salt.hex)\nheader \(header)\n" + formerSalts.map { "former \($0.hex)\n" }.joined()
    }

    /// Nil where the provider refuses.
    private var check: String? {
        var digest = [UInt8](repeating: 0, count: 32)
        let text = Array(content.utf8)
        guard strongroom_hmac(STRONGROOM_SHA256, SaltFile.title, SaltFile.title.utf8.count, text, text.count, &digest) == 0 else { return nil }
        return hexadecimal(digest.prefix(4))
    }

    private static func failure(_ verb: String, _ path: String, errno: CInt) -> DatabaseError {
        let code: ResultCode = errno == ENOSPC ? .SQLITE_FULL : .SQLITE_IOERR
        return DatabaseError(resultCode: code, message: "can't \(verb) the salt file \(path): \(String(cString: strerror(errno)))")
    }
}
