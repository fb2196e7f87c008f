import Foundation

// The text of a slot file. Every byte of it is either authenticated or part of the authentication code, and each
// content has exactly one text.

extension SlotFile {
    /// The greatest size of a slot file in bytes. 32 slots have fewer than 14,000.
    static let largestSize = 16_384

    private static let title = "Strongroom keys "
    private static let version = "1"

    // MARK: Writing

    /// The text without its last line.
    var authenticatedText: [UInt8] {
        var text = "\(SlotFile.title)\(SlotFile.version)\ndatabase \(salt.hex)\nepoch \(epoch)\n"
        for entry in entries { text += SlotFile.lines(of: entry) }
        return Array(text.utf8)
    }

    var text: [UInt8] { authenticatedText + Array("code \(hexadecimal(code))\n".utf8) }

    private static func lines(of entry: KeySlot.Entry) -> String {
        let slot = entry.slot
        return """
            slot \(slot.id)
            label \(slot.label)
            created \(time(slot.created))
            kind \(slot.kind.rawValue)
            derivation \(slot.derivation.text)
            salt \(hexadecimal(entry.salt))
            wrapped \(hexadecimal(entry.wrapped))

            """
    }

    // MARK: Reading

    /// - throws: `SQLITE_CORRUPT` with the reason `damagedSlotFile`; `newerSlotFile`; `weakKeyCost`, `excessiveKeyCost`
    ///   and `unfitKeySlot` for content beyond the limits.
    init(text bytes: [UInt8]) throws {
        // A later format may have other limits.
        try SlotFile.requireVersion(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        guard bytes.count <= SlotFile.largestSize, let text = String(bytes: bytes, encoding: .utf8) else {
            throw DatabaseError.damagedSlotFile
        }
        var lines = Lines(text)
        lines.removeFirst()
        guard let salt = lines.value("database").flatMap({ Salt(hex: $0) }),
            let epoch = lines.value("epoch").flatMap({ Int($0) }), (1...SlotFile.largestEpoch).contains(epoch)
        else { throw DatabaseError.damagedSlotFile }
        var entries: [KeySlot.Entry] = []
        while lines.comesNext("slot") {
            guard let entry = SlotFile.entry(&lines) else { throw DatabaseError.damagedSlotFile }
            entries.append(entry)
        }
        guard let code = lines.value("code").flatMap({ hexBytes($0) }), code.count == 32, !entries.isEmpty,
            Set(entries.map(\.slot.id)).count == entries.count
        else { throw DatabaseError.damagedSlotFile }
        self.init(salt: salt, epoch: epoch, entries: entries, code: code)
        // Any other form of the same content is not authenticated.
        guard self.text == bytes else { throw DatabaseError.damagedSlotFile }
        try requireFit()
    }

    private static func requireVersion(_ line: String) throws {
        guard line.hasPrefix(title), let number = Int(line.dropFirst(title.count)) else {
            throw DatabaseError.damagedSlotFile
        }
        guard "\(number)" != version else { return }
        throw DatabaseError(
            .SQLITE_NOTADB, .newerSlotFile, "the slot file has the format \(number)", advice: "update this program")
    }

    private static func entry(_ lines: inout Lines) -> KeySlot.Entry? {
        guard let id = lines.value("slot"), id.utf8.count == 8, hexBytes(id).map({ hexadecimal($0) == id }) == true,
            let label = lines.value("label"), NewKeySlot.isValid(label: String(label)),
            let created = lines.value("created").flatMap({ time(String($0)) }),
            let kind = lines.value("kind").flatMap({ KeySlot.Kind(rawValue: String($0)) }),
            let derivation = lines.value("derivation").flatMap({ KeyDerivation(text: $0) }),
            (derivation == .hkdf) == (kind == .recoveryCode),
            let salt = lines.value("salt").flatMap({ hexBytes($0) }), salt.count == KeySlot.Entry.saltCount,
            let wrapped = lines.value("wrapped").flatMap({ hexBytes($0) }), wrapped.count == 40
        else { return nil }
        let slot = KeySlot(id: String(id), label: String(label), created: created, kind: kind, derivation: derivation)
        return KeySlot.Entry(slot: slot, salt: salt, wrapped: wrapped)
    }

    // MARK: Time

    /// RFC 3339, in UTC, to the second.
    private static func time(_ date: Date) -> String { date.formatted(.iso8601) }

    private static func time(_ text: String) -> Date? { try? Date(text, strategy: .iso8601) }
}

/// Lines that consist of a name, a space, and a value.
private struct Lines {
    private var rest: ArraySlice<Substring>

    init(_ text: String) { rest = text.lineParts[...] }

    mutating func removeFirst() { rest.removeFirst() }

    func comesNext(_ name: String) -> Bool { rest.first?.remainder(after: name + " ") != nil }

    mutating func value(_ name: String) -> Substring? {
        guard let value = rest.first?.remainder(after: name + " ") else { return nil }
        rest.removeFirst()
        return value
    }
}

extension DatabaseError {
    static let damagedSlotFile = DatabaseError(
        .SQLITE_CORRUPT, .damagedSlotFile, "the slot file is damaged",
        advice: "restore it from a backup, or open the database with its exported data key")
}
