/// The text of the record beside a database that is being replaced. It contains no path.
struct ReplacementRecord: Equatable {
    /// The name of the folder with the next database.
    var folder: String
    /// The text that the names of the former files get, between that of the database and their endings. Nil if they go
    /// with the folder.
    var suffix: String?
    /// True if there was a database.
    var hasFormer: Bool
    /// True if the name always leads to a database: to the former one until it leads to the next.
    var keepsName: Bool
    /// True if the file system has second names.
    var hasLinks: Bool
    /// The files beside the next database.
    var companions: [CompanionFile]

    private static let title = "strongroom replacement 1", lastLine = "end"

    var text: [UInt8] {
        let facts = [("former", hasFormer), ("keeps-name", keepsName), ("links", hasLinks)].filter(\.1).map(\.0)
        var lines = [Self.title, "folder \(folder)"] + facts
        if let suffix { lines.append("aside \(suffix)") }
        lines += companions.map { "with \($0.rawValue)" }
        return Array((lines + [Self.lastLine, ""]).joined(separator: "\n").utf8)
    }
}

extension ReplacementRecord {
    /// Nil for a text that is not a whole record.
    init?(text: [UInt8]) {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == Self.title[...], lines.suffix(2) == [Self.lastLine[...], ""] else { return nil }
        func value(_ word: String) -> String? {
            lines.first { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
        }
        let suffix = value("aside")
        guard let folder = value("folder"), [folder, suffix ?? folder].allSatisfy(Self.isName) else { return nil }
        self.init(
            folder: folder, suffix: suffix, hasFormer: lines.contains("former"),
            keepsName: lines.contains("keeps-name"), hasLinks: lines.contains("links"),
            companions: lines.compactMap { line in
                line.hasPrefix("with ") ? CompanionFile(rawValue: String(line.dropFirst(5))) : nil
            })
    }

    /// Returns true for a part of a name that leads to no other folder.
    private static func isName(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(UInt8(ascii: "/")) }
}
