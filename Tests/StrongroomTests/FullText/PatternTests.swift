import Strongroom
import Testing

@Suite("Full-text patterns")
struct PatternTests {
    static let texts = ["", "*", "\"", "Jack & Jill", "AND or NOT", "éclair Ö-ffnung", "it's \0 1984"]

    @Test(
        "Any text makes patterns of its words",
        arguments: [
            ("Jack & Jill", "jack jill"), ("AND or NOT", "and or not"), ("éclair Ö-ffnung", "éclair Ö ffnung"),
            ("it's \0 1984", "it s 1984"),
        ])
    func words(_ text: String, _ words: String) {
        let any = words.split(separator: " ").joined(separator: " OR ")
        let prefixes = words.split(separator: " ").map { $0 + "*" }.joined(separator: " ")
        #expect(FTS3Pattern(matchingAllTokensIn: text)?.rawPattern == words)
        #expect(FTS5Pattern(matchingAllTokensIn: text)?.rawPattern == words)
        #expect(FTS3Pattern(matchingAnyTokenIn: text)?.rawPattern == any)
        #expect(FTS5Pattern(matchingAnyTokenIn: text)?.rawPattern == any)
        #expect(FTS3Pattern(matchingAllPrefixesIn: text)?.rawPattern == prefixes)
        #expect(FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern == prefixes)
        #expect(FTS3Pattern(matchingPhrase: text)?.rawPattern == "\"\(words)\"")
        #expect(FTS5Pattern(matchingPhrase: text)?.rawPattern == "\"\(words)\"")
        #expect(FTS5Pattern(matchingPrefixPhrase: text)?.rawPattern == "^\"\(words)\"")
    }

    @Test("Text without words makes no pattern", arguments: ["", " ", "*", "\"-&"])
    func noWords(_ text: String) {
        #expect(FTS3Pattern(matchingAllTokensIn: text) == nil)
        #expect(FTS3Pattern(matchingAnyTokenIn: text) == nil)
        #expect(FTS3Pattern(matchingAllPrefixesIn: text) == nil)
        #expect(FTS3Pattern(matchingPhrase: text) == nil)
        #expect(FTS5Pattern(matchingAllTokensIn: text) == nil)
        #expect(FTS5Pattern(matchingAnyTokenIn: text) == nil)
        #expect(FTS5Pattern(matchingAllPrefixesIn: text) == nil)
        #expect(FTS5Pattern(matchingPhrase: text) == nil)
        #expect(FTS5Pattern(matchingPrefixPhrase: text) == nil)
    }

    @Test("SQLite accepts the patterns that are made of any text", arguments: texts)
    func accepted(_ text: String) throws {
        let three = [
            FTS3Pattern(matchingAllTokensIn: text), FTS3Pattern(matchingAnyTokenIn: text),
            FTS3Pattern(matchingAllPrefixesIn: text), FTS3Pattern(matchingPhrase: text),
        ]
        for pattern in three.compactMap({ $0 }) {
            #expect(try FTS3Pattern(rawPattern: pattern.rawPattern).rawPattern == pattern.rawPattern)
        }
        let five = [
            FTS5Pattern(matchingAllTokensIn: text), FTS5Pattern(matchingAnyTokenIn: text),
            FTS5Pattern(matchingAllPrefixesIn: text), FTS5Pattern(matchingPhrase: text),
            FTS5Pattern(matchingPrefixPhrase: text),
        ]
        for pattern in five.compactMap({ $0 }) {
            #expect(try FTS5Pattern(rawPattern: pattern.rawPattern).rawPattern == pattern.rawPattern)
        }
    }

    @Test("A raw pattern that SQLite can't read is refused with SQLite's words, and no SQL")
    func malformed() {
        #expect { try FTS3Pattern(rawPattern: "OR") } throws: { error in
            let error = error as? DatabaseError
            return error?.resultCode == .SQLITE_ERROR && error?.message == "malformed MATCH expression: [OR]"
                && error?.sql == nil
        }
        #expect { try FTS5Pattern(rawPattern: "AND") } throws: { error in
            let error = error as? DatabaseError
            return error?.resultCode == .SQLITE_ERROR && error?.message == "fts5: syntax error near \"AND\""
                && error?.sql == nil
        }
    }

    @Test("A raw pattern names only columns that are allowed, or those of a table")
    func columns() throws {
        #expect(throws: DatabaseError.self) { try FTS5Pattern(rawPattern: "title: moby") }
        #expect(try FTS5Pattern(rawPattern: "title: moby", allowedColumns: ["title"]).rawPattern == "title: moby")
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.column("title")
                t.column("body")
            }
            #expect(try db.makeFTS5Pattern(rawPattern: "body: moby", forTable: "document").rawPattern == "body: moby")
            #expect(throws: DatabaseError.self) {
                try db.makeFTS5Pattern(rawPattern: "author: moby", forTable: "document")
            }
            #expect(throws: DatabaseError.self) { try db.makeFTS5Pattern(rawPattern: "moby", forTable: "missing") }
        }
    }

    @Test("Patterns are values: a stored pattern is read back")
    func values() throws {
        #expect(FTS3Pattern.fromDatabaseValue("moby".databaseValue)?.rawPattern == "moby")
        #expect(FTS3Pattern.fromDatabaseValue("OR".databaseValue) == nil)
        #expect(FTS5Pattern.fromDatabaseValue("moby*".databaseValue)?.rawPattern == "moby*")
        #expect(FTS5Pattern.fromDatabaseValue("moby -".databaseValue) == nil)
        #expect(FTS5Pattern.fromDatabaseValue(.null) == nil)
        #expect(try FTS5Pattern(rawPattern: "moby*").databaseValue == "moby*".databaseValue)
    }
}
