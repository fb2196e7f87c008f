/// The text of the record beside a database that is being replaced. It contains no path.
struct ReplacementRecord: Equatable {
    /// The name of the folder with the next database.
    var folder: String
    /// What the names of the former files get, between that of the database and their endings. Nil if they go with the
    /// folder.
    var suffix: String?
    /// The number of the former database in its file system. 0 if there was none.
    var former: Int64
    /// The number of the next database in its file system.
    var next: Int64
    /// The files beside the next database.
    var companions: [CompanionFile]
    /// True if the file system has second names.
    var hasLinks: Bool

    private static let title = "strongroom replacement 1", end = "end"

    var text: [UInt8] {
        var lines = [Self.title, "folder \(folder)", "former \(former)", "next \(next)", "links \(hasLinks ? 1 : 0)"]
        if let suffix { lines.append("aside \(suffix)") }
        lines += companions.map { "with \($0.rawValue)" }
        return Array((lines + [Self.end, ""]).joined(separator: "\n").utf8)
    }

    /// Nil for a text that is not a whole record.
    init?(text: [UInt8]) {
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.first == Self.title[...], lines.suffix(2) == [Self.end[...], ""] else { return nil }
        func value(_ word: String) -> String? {
            lines.first { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
        }
        guard let folder = value("folder"), Self.isName(folder), let former = value("former").flatMap({ Int64($0) }),
            let next = value("next").flatMap({ Int64($0) }), let links = value("links")
        else { return nil }
        (self.folder, self.former, self.next, hasLinks) = (folder, former, next, links == "1")
        suffix = value("aside")
        if let suffix, !Self.isName(suffix) { return nil }
        companions = lines.compactMap { line in
            line.hasPrefix("with ") ? CompanionFile(rawValue: String(line.dropFirst(5))) : nil
        }
    }

    init(folder: String, suffix: String?, former: Int64, next: Int64, companions: [CompanionFile], hasLinks: Bool) {
        (self.folder, self.suffix, self.former, self.next) = (folder, suffix, former, next)
        (self.companions, self.hasLinks) = (companions, hasLinks)
    }

    /// Returns true for a part of a name that leads to no other folder.
    private static func isName(_ text: String) -> Bool { !text.isEmpty && !text.utf8.contains(UInt8(ascii: "/")) }
}
