/// Authenticates pages of one key and format without SQLCipher, whose own check only reads the main file, reports false
/// errors above 4 GiB, and reports wrong results after the first bad page on a connection.
final class PageFormat: @unchecked Sendable {
    let pageSize: Int
    /// False for SQLCipher 1, whose pages have no HMAC.
    let authenticates: Bool
    /// The bytes at the end of each page that contain no data.
    let reserve: Int
    /// The key and the HMAC key. The class is Sendable because only the initializer writes them.
    private let format: SecretBytes

    init(_ derived: DerivedKey, header: Int) throws {
        let settings = derived.settings
        let hmacKey = try pbkdf2(
            derived.key, salt: derived.salt.forAuthentication, rounds: 2, algorithm: settings.kdfAlgorithm, count: 32)
        pageSize = settings.pageSize
        authenticates = settings.hmacAlgorithm != nil
        reserve = RawPageFormat.reserve(digest: settings.hmacAlgorithm?.rawValue ?? 0)
        format = try SecretBytes(count: RawPageFormat.size) { bytes in
            derived.key.withBytes { key in
                hmacKey.withBytes { hmacKey in
                    RawPageFormat.write(
                        into: bytes, key: key, hmacKey: hmacKey, digest: settings.hmacAlgorithm?.rawValue ?? 0,
                        pageSize: settings.pageSize, header: header > 0 ? header : Salt.count)
                }
            }
        }
    }

    /// The number of the page at one gigabyte, where some systems place locks. SQLite never writes it.
    /// <https://www.sqlite.org/fileformat.html#the_lock_byte_page>
    var lockBytePage: Int { 0x4000_0000 / pageSize + 1 }

    /// Returns the offset of a page in the file. It needs more than 32 bits in large files.
    func offset(of number: Int) -> Int64 { Int64(number - 1) * Int64(pageSize) }

    func isAuthentic(_ page: UnsafeRawBufferPointer, number: Int) -> Bool {
        precondition(page.count == pageSize)
        return withFormat { $0.isAuthentic(page, number: number) }
    }

    /// Returns for each page, one after the other in memory, if it is authentic.
    func areAuthentic(_ pages: UnsafeRawBufferPointer, numbers: ArraySlice<Int>) -> [Bool] {
        precondition(pages.count == numbers.count * pageSize)
        let numbers = numbers.map { UInt32($0) }
        return [Bool](unsafeUninitializedCapacity: numbers.count) { authentic, count in
            withFormat { $0.areAuthentic(pages, numbers: numbers, into: authentic.baseAddress) }
            count = numbers.count
        }
    }

    /// Returns true if the key fits page 1, even if the salt doesn't.
    func decrypts(firstPage page: UnsafeRawBufferPointer) -> Bool {
        precondition(page.count == pageSize)
        return withFormat { $0.decrypts(page) }
    }

    /// Decrypts the first `length` bytes of a page, authentic or not, into memory for a page. Page 1 begins with
    /// SQLite's magic, and zeros take the place of the reserve.
    func decrypt(
        _ page: UnsafeRawBufferPointer, number: Int, length: Int, into clear: UnsafeMutableRawBufferPointer
    ) -> Bool {
        precondition(page.count == pageSize && clear.count == pageSize && length <= pageSize)
        return withFormat { $0.decrypt(page, number: number, length: length, into: clear) }
    }

    /// Returns true if page 1 indicates WAL mode.
    func usesLog(firstPage page: UnsafeRawBufferPointer) -> Bool {
        precondition(page.count == pageSize)
        return withFormat { $0.usesLog(page) }
    }

    func withFormat<R>(_ body: (RawPageFormat) throws -> R) rethrows -> R {
        try format.withBytes { try body(RawPageFormat($0)) }
    }
}

/// The first bytes of a database file, and the facts that follow from them without a key.
struct FileHeader {
    /// The size of SQLite's smallest page in bytes: its header has 100, and the root of the schema follows.
    static let count = 512
    static let magic = Array("SQLite format 3\0".utf8)

    /// The bytes: 512, or fewer in a shorter file.
    let bytes: [UInt8]
    let fileSize: Int64

    var startsLikeSQLite: Bool { bytes.starts(with: FileHeader.magic) }

    /// True if the file is in clear text. The 20 bytes that SQLite leaves zero are ciphertext behind all plaintext
    /// headers except one of 96 bytes. That one shows the reserve of SQLCipher in each page. In an unencrypted file
    /// with the same reserve, the root of the schema decides.
    var isClear: Bool {
        guard startsLikeSQLite, bytes.count == FileHeader.count, bytes[72..<92].allSatisfy({ $0 == 0 })
        else { return false }
        return ![16, 48, 80].contains(bytes[20]) || hasClearRoot
    }

    /// True if a b-tree page follows the header. <https://www.sqlite.org/fileformat.html#b_tree_pages>
    private var hasClearRoot: Bool {
        guard let pageSize, bytes[100] == 13 || bytes[100] == 5, bytes[107] <= 60 else { return false }
        func number(at offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
        let usable = pageSize - Int(bytes[20]), freeBlock = number(at: 101), count = number(at: 103)
        let content = number(at: 105) == 0 ? 65536 : number(at: 105), pointers = bytes[100] == 13 ? 108 : 112
        guard pointers + 2 * count <= content, content <= usable,
            freeBlock == 0
                || (content..<usable).contains(freeBlock)
        else { return false }
        return stride(from: pointers, to: min(pointers + 2 * count, FileHeader.count), by: 2).allSatisfy {
            (content..<usable).contains(number(at: $0))
        }
    }

    var hasPlaintextHeader: Bool { startsLikeSQLite && !isClear && bytes.count == FileHeader.count }

    /// The page size in bytes. Nil if the header is encrypted or has no valid size.
    var pageSize: Int? {
        guard startsLikeSQLite, bytes.count >= 18 else { return nil }
        let isSize = (512...65536).contains(shownPageSize) && shownPageSize.nonzeroBitCount == 1
        return isSize ? shownPageSize : nil
    }

    private var shownPageSize: Int {
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        return size == 1 ? 65536 : size
    }

    /// The salt in the file. Nil if a plaintext header takes its place.
    var salt: Salt? {
        bytes.count >= Salt.count && !startsLikeSQLite ? try? Salt(bytes.prefix(Salt.count)) : nil
    }

    /// The end of the bytes that describe the layout of pages.
    static let pageFormatEnd = 24

    /// Returns, in words, why the first `end` bytes can't be those of a database with these settings. Nil if they can.
    func contradiction(to settings: CipherSettings, upTo end: Int) -> String? {
        func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        let reserve = RawPageFormat.reserve(digest: settings.hmacAlgorithm?.rawValue ?? 0)
        let rules: [(end: Int, holds: () -> Bool, words: () -> String)] = [
            (
                18, { shownPageSize == settings.pageSize },
                { "its page size is \(shownPageSize) bytes, that of the settings \(settings.pageSize)" }
            ),
            (20, { (1...2).contains(bytes[18]) && (1...2).contains(bytes[19]) }, { "it has an unknown version" }),
            // SQLCipher keeps the reserve of a page that is larger than it needs.
            (
                21, { bytes[20] >= reserve && [16, 48, 80].contains(bytes[20]) },
                { "it reserves \(bytes[20]) bytes in each page, the settings require \(reserve)" }
            ),
            (24, { bytes[21..<24].elementsEqual([64, 32, 32]) }, { "its payload fractions are not those of SQLite" }),
            (48, { number(at: 44) <= 4 }, { "it has an unknown schema format" }),
            (60, { number(at: 56) <= 3 }, { "it has an unknown text encoding" }),
            (92, { bytes[72..<92].allSatisfy { $0 == 0 } }, { "its reserved bytes are not zero" }),
        ]
        return rules.first { $0.end <= min(end, bytes.count) && !$0.holds() }?.words()
    }

    var looksLikeText: Bool {
        !bytes.isEmpty && !startsLikeSQLite && bytes.allSatisfy { (32..<127).contains($0) || (9...13).contains($0) }
    }
}
