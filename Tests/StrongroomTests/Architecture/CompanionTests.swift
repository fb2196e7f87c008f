import Foundation
import Testing

@testable import Strongroom

/// The one list of the files beside a database, and the article "Sidecars", which describes them.
@Suite("The list of companion files")
struct CompanionTests {
    /// Returns the lines that spell the ending of a companion file: as a literal, or after an interpolation.
    private static func spellings(in text: String) -> [Substring] {
        let endings = CompanionFile.allCases.flatMap { ["\"\($0.rawValue)\"", ")\($0.rawValue)\""] }
        return text.split(separator: "\n").filter { line in
            line.utf8.contains(UInt8(ascii: "-")) && endings.contains { line.contains($0) }
        }
    }

    @Test("is the only place that spells their names")
    func literals() throws {
        let folder = SourceDocumentation.packageFolder.appendingPathComponent("Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var found: [String: [Substring]] = [:]
        for path in paths {
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            let lines = Self.spellings(in: text)
            if !lines.isEmpty { found[path] = lines }
        }
        #expect(found.removeValue(forKey: "Strongroom/Keys/CompanionFile.swift")?.count == CompanionFile.allCases.count)
        // A module of its own, which doesn't import the library, has a list of its own.
        #expect(found.removeValue(forKey: "StrongroomReplica/Format/Companion.swift") != nil)
        #expect(found.isEmpty, "\(found)")
    }

    @Test("would find another spelling")
    func control() {
        let text =
            "let log = path + \"-wal\"\nremove(\"\\(path)-salt-next\")\nlet option = \"--salt-file\"\nlet a = b-1"
        #expect(Self.spellings(in: text) == ["let log = path + \"-wal\"", "remove(\"\\(path)-salt-next\")"])
    }

    @Test("names the files that the shim reads")
    func shim() throws {
        let folder = SourceDocumentation.packageFolder.appendingPathComponent("Shim/CStrongroom")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".c") }
        let text = try paths.map { try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8) }.joined()
        let spelled = Set(text.matches(of: /"(-[a-z]+(?:-[a-z]+)*)"/).map { String($0.1) })
        #expect(spelled == [CompanionFile.log.rawValue, CompanionFile.journal.rawValue])
    }

    @Test("names the files that the article describes, and says who removes them")
    func article() throws {
        let file = "Sources/Strongroom/Strongroom.docc/Maintainers/Sidecars.md"
        let text = try String(
            contentsOf: SourceDocumentation.packageFolder.appendingPathComponent(file), encoding: .utf8)
        for companion in CompanionFile.allCases {
            let row = text.split(separator: "\n").first { $0.hasPrefix("| `\(companion.rawValue)` |") }
            let words: String? =
                switch companion.removal {
                case .bySQLite: nil
                case .whenMerged:
                    switch companion {
                    case .newSalt: "after the first commit"
                    case .replacement: "when the database has been replaced"
                    default: "was not committed"
                    }
                case .byChange: companion == .salt ? "when the header is turned off" : "when a rotation removes"
                case .byNextWriter: "by the next change"
                case .never: "never"
                }
            #expect((row == nil) == (words == nil), "\(companion)")
            #expect(words.map { row?.contains($0) == true } != false, "\(companion)")
        }
    }

    @Test("tells the files of SQLite, the needed ones, the published ones and the locks apart")
    func properties() {
        let all = CompanionFile.allCases
        #expect(CompanionFile.ofSQLite == [.journal, .log, .logIndex])
        #expect(all.filter { !$0.hasState } == [.keyLock, .openingLock])
        #expect(all.filter(\.isPublished) == [.salt, .keys])
        #expect(CompanionFile.withState.filter { !$0.isNeeded } == CompanionFile.ofSQLite)
        #expect(
            Set(SaltFile.Role.allCases.map(\.file) + SlotFiles.Role.allCases.map(\.file))
                == Set(all.filter { $0.isNeeded && $0.isReplaced }))
        #expect(all.filter { $0.hasState && !$0.isReplaced } == [.replacement])
        #expect(all.filter(\.isRestored) == [.journal, .log, .salt, .nextSalt, .keys, .nextKeys])
        for role in SaltFile.Role.allCases { #expect(SaltFile.Role(rawValue: role.rawValue) == role) }
        #expect(SlotFiles.Role(rawValue: "-salt") == nil)
    }
}
