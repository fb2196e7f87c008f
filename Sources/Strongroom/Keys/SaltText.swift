/// The content of a salt file: a title, and three lines for each salt.
struct SaltText {
    let bytes: [UInt8]
    /// The salts in the order of the file. The last one is valid.
    private(set) var salts: [SaltFile] = []
    /// The size of the title and the salts in bytes. A killed process was writing the bytes after them.
    private(set) var wholeCount = 0
    /// True if the content is not, and was not, that of a salt file.
    private(set) var isDamaged = false

    /// True if the content has no salt, or only the beginning of one.
    var isUnfinished: Bool { salts.isEmpty && !isDamaged }

    /// The greatest size in bytes. Files from before the number of former salts was bounded have up to 1 MiB.
    static let largest = 2 << 20

    private static let title = "Strongroom salt 1"
    private static let newLine = UInt8(ascii: "\n")

    init(bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count <= SaltText.largest else {
            isDamaged = true
            return
        }
        var lines = bytes.split(separator: SaltText.newLine, omittingEmptySubsequences: false)[...]
        // A file may get its size before its data: after a power failure it contains zeros.
        guard bytes.contains(where: { $0 != 0 }), let first = lines.popFirst() else { return }
        guard first.elementsEqual(SaltText.title.utf8) else {
            isDamaged = !lines.isEmpty || !SaltText.title.utf8.starts(with: first.prefix { $0 != 0 })
            return
        }
        while lines.count >= 3, let salt = SaltText.salt(lines.prefix(3).map { String(decoding: $0, as: UTF8.self) }) {
            salts.append(salt)
            wholeCount = min(lines[lines.startIndex + 2].endIndex + 1, bytes.count)
            lines.removeFirst(3)
        }
        isDamaged = !SaltText.isTorn(lines)
    }

    /// Returns true if these lines are the beginning of a salt, or nothing.
    private static func isTorn(_ lines: ArraySlice<ArraySlice<UInt8>>) -> Bool {
        guard let last = lines.last, lines.count <= 3 else { return lines.isEmpty }
        for (line, name) in zip(lines, ["salt ", "header ", "check "]) {
            let isWhole = line.endIndex != last.endIndex
            let start = line.prefix { $0 != 0 }
            guard isWhole ? line.starts(with: name.utf8) : zip(start, name.utf8).allSatisfy(==) else { return false }
        }
        // A complete third line is a check, which was found to be wrong.
        return lines.count < 3 || last.prefix { $0 != 0 }.count < "check 01234567".utf8.count
    }

    private static func salt(_ lines: [String]) -> SaltFile? {
        guard let salt = value("salt", lines[0]).flatMap({ Salt(hex: $0) }),
            let header = value("header", lines[1]).flatMap({ Int($0) }),
            // Any program can compute the check, and the size is used later: it is validated.
            header == 0 || PlaintextHeader.isValid(size: header),
            let check = value("check", lines[2])
        else { return nil }
        let file = SaltFile(salt: salt, header: header)
        return check == self.check(file).map { $0[...] } ? file : nil
    }

    private static func value(_ name: String, _ line: String) -> Substring? {
        line.hasPrefix(name + " ") ? line.dropFirst(name.utf8.count + 1) : nil
    }

    // MARK: Writing

    /// Returns the bytes to append to the complete lines so that the salt of `file` is valid.
    func lines(adding file: SaltFile) throws -> [UInt8] {
        let title = wholeCount == 0 ? SaltText.title + "\n" : bytes[wholeCount - 1] == SaltText.newLine ? "" : "\n"
        return Array((title + (try SaltText.whole(file))).utf8)
    }

    /// Returns the three lines of a salt.
    private static func whole(_ file: SaltFile) throws -> String {
        guard let check = check(file) else {
            throw DatabaseError(.SQLITE_IOERR, message: "the cryptographic provider refuses HMAC-SHA256")
        }
        return content(file) + "check \(check)\n"
    }

    /// Returns the text of a file with these salts, the valid one last.
    static func text(of salts: [SaltFile]) throws -> [UInt8] {
        Array(try (title + "\n" + salts.map(whole).joined()).utf8)
    }

    private static func content(_ file: SaltFile) -> String { "salt \(file.salt.hex)\nheader \(file.header)\n" }

    /// Returns the check of a salt. Nil if the provider refuses.
    private static func check(_ file: SaltFile) -> String? {
        var digest = [UInt8](repeating: 0, count: 32)
        let text = Array(content(file).utf8)
        let result = Array(title.utf8).withUnsafeBytes { Provider.hmac(.sha256, key: $0, text, into: &digest) }
        return result != 0 ? nil : hexadecimal(digest.prefix(4))
    }
}
