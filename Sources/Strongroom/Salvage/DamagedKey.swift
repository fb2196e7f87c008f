/// The search for the format and the salt of a damaged database: its pages show which one is right.
struct DamagedKey {
    let files: DamagedFiles
    let encryption: Encryption

    private static let pageSizes = [4096, 1024, 8192, 2048, 16384, 32768, 65536, 512]

    /// Returns the format of the pages, with the key that authenticates some of them.
    ///
    /// - throws: `SQLITE_NOTADB` with the reason `missingSalt` or `wrongKey`.
    func format() throws -> PageFormat {
        let salts = try self.salts()
        guard !salts.isEmpty else {
            throw DatabaseError(
                .SQLITE_NOTADB, .missingSalt, "\(files.path) has lost its salt, and there is none beside it",
                advice: "give the salt, from a copy of the database or of the file beside it")
        }
        let keys = try self.keys()
        for settings in formats {
            for key in keys {
                for (salt, header) in salts {
                    // A key that is spelled with its salt fits no other.
                    if let own = key.source.salt, own != salt { continue }
                    let derived = try Keyring().derivedKey(for: key, salt: salt, settings: settings)
                    if let format = try format(derived, header) { return format }
                }
            }
        }
        throw DatabaseError(
            .SQLITE_NOTADB, .wrongKey, "no page of \(files.path) was written with this key",
            advice: "check the key; give the format or the salt if they are not the usual ones")
    }

    private var formats: [CipherSettings] {
        try? encryption.settings.validate()
        let others: [CipherSettings] = [.sqlcipher3, .sqlcipher2, .sqlcipher1]
        return [encryption.settings] + (encryption.settings == .sqlcipher4 ? others : [])
    }

    /// Returns the format with the page size at which a page is authentic. Nil if there is none.
    private func format(_ derived: DerivedKey, _ header: Int) throws -> PageFormat? {
        let given = derived.settings.pageSize
        for size in [given] + DamagedKey.pageSizes.filter({ $0 != given }) {
            var settings = derived.settings
            settings.pageSize = size
            let key = DerivedKey(key: derived.key, salt: derived.salt, settings: settings)
            let format = try PageFormat(key, header: header)
            if proves(format) { return format }
        }
        return nil
    }

    /// Returns true if a page is authentic, in the database or in its log.
    private func proves(_ format: PageFormat) -> Bool {
        let size = format.pageSize, count = Int(files.size / Int64(size))
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
        defer { bytes.deallocate() }
        func isProof(_ number: Int) -> Bool {
            let page = UnsafeRawBufferPointer(bytes)
            return !page.isZero && format.isAuthentic(page, number: number)
        }
        let numbers =
            format.authenticates ? Array(1...16) + stride(from: 17, through: count, by: max(1, count / 1024)) : [1]
        for number in numbers where number <= count {
            if files.read(at: format.offset(of: number), into: bytes), isProof(number) { return true }
        }
        guard let log = files.log else { return false }
        for frame in 1...256 {
            let offset = DamagedLog.offset(of: frame, pageSize: size)
            var head = [UInt8](repeating: 0, count: 4)
            guard head.withUnsafeMutableBytes({ log.read(at: offset - 24, into: $0) }),
                log.read(at: offset, into: bytes)
            else { return false }
            let number = head.number32(at: 0)!
            if number > 0, format.authenticates || number == 1, isProof(number) { return true }
        }
        return false
    }

    // MARK: - Keys

    /// Returns the keys that the given one may be: that of a slot first, then the key itself.
    private func keys() throws -> [DatabaseKey] {
        let given = encryption.key
        guard given.source.form == .passphrase else { return [given] }
        let slots = SlotFiles(database: files.path)
        let unlocked = [SlotFiles.Role.current, .rotation].compactMap { role -> DatabaseKey? in
            guard let file = try? slots.read(role) else { return nil }
            return try? given.withSlotSecret { secret in
                let opened = try file.unlock(secret, preferred: encryption.keySlots.preferred, KeySlotDeriver())
                return DatabaseKey(source: KeySource(raw: opened.dataKey, salt: nil))
            }
        }
        return unlocked + [given]
    }

    // MARK: - Salts

    /// Returns the salts that the database may have, each with the size of its plaintext header. The likely ones are
    /// first.
    private func salts() throws -> [(Salt, header: Int)] {
        var found: [(Salt, header: Int)] = []
        func add(_ salt: Salt?, _ header: Int) {
            if let salt, !found.contains(where: { $0 == salt && $1 == header }) { found.append((salt, header)) }
        }
        let size = encryption.plaintextHeader?.size ?? 0
        let beside = SaltFile.Role.allCases.flatMap { (try? SaltFile.readAll($0, of: files.path)) ?? [] }
        if let bytes = encryption.plaintextHeader?.salt.provided { add(try Salt(bytes), size) }
        if let salt = encryption.key.source.salt { add(salt, beside.first?.header ?? size) }
        var first = [UInt8](repeating: 0, count: FileHeader.count)
        let hasHeader = first.withUnsafeMutableBytes { files.read(at: 0, into: $0) }
        if hasHeader, !first.prefix(Salt.count).allSatisfy({ $0 == 0 }) {
            add(FileHeader(bytes: first, fileSize: files.size).salt, 0)
        }
        for file in beside { add(file.salt, file.header) }
        for role in [SlotFiles.Role.current, .rotation] {
            add(((try? SlotFiles(database: files.path).read(role)) ?? nil)?.salt, beside.first?.header ?? size)
        }
        for salt in saltsInLog() { add(salt, 0) }
        return found
    }

    /// Returns the first bytes of page 1 in the log.
    private func saltsInLog() -> [Salt] {
        guard let log = files.log, log.size > 56 else { return [] }
        var salts: [Salt] = []
        var page = [UInt8](repeating: 0, count: Salt.count), head = [UInt8](repeating: 0, count: 4)
        for size in DamagedKey.pageSizes {
            for frame in 1...64 {
                let offset = DamagedLog.offset(of: frame, pageSize: size)
                guard head.withUnsafeMutableBytes({ log.read(at: offset - 24, into: $0) }),
                    page.withUnsafeMutableBytes({ log.read(at: offset, into: $0) })
                else { break }
                if head.number32(at: 0) == 1, !page.starts(with: FileHeader.magic), let salt = try? Salt(page),
                    !salts.contains(salt), salts.count < 4
                {
                    salts.append(salt)
                }
            }
        }
        return salts
    }
}
