extension String {
    /// The words of a text as the plainest tokenizers of SQLite find them: letters and digits of ASCII, and whatever is
    /// beyond it. In lowercase, so that no word is an operator of a pattern.
    var searchTokens: [String] {
        unicodeScalars.split { $0.isASCII && !$0.isASCIIWordPart }.map { word in
            var token = ""
            token.unicodeScalars += word.map { ("A"..."Z").contains($0) ? Unicode.Scalar(UInt8($0.value) | 0x20) : $0 }
            return token
        }
    }

    // Texts as patterns that FTS3, FTS4 and FTS5 read alike; nil if there is no word.

    var anyTokenPattern: String? { searchPattern { $0.joined(separator: " OR ") } }
    var allTokensPattern: String? { searchPattern { $0.joined(separator: " ") } }
    var allPrefixesPattern: String? { searchPattern { $0.map { $0 + "*" }.joined(separator: " ") } }
    var phrasePattern: String? { searchPattern { "\"" + $0.joined(separator: " ") + "\"" } }

    private func searchPattern(_ spelling: ([String]) -> String) -> String? {
        let tokens = searchTokens
        return tokens.isEmpty ? nil : spelling(tokens)
    }
}

extension Unicode.Scalar {
    /// True if this is an ASCII letter or digit.
    var isASCIIWordPart: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}

extension Database {
    /// Runs `body` with a connection to an empty database in memory.
    static func inMemory<T>(_ body: (Database) throws -> T) throws -> T {
        let db = try Database(path: ":memory:", description: "memory", configuration: Configuration())
        return try db.withSoleAccess { db in
            try db.setUpPlainly(derived: nil, header: 0)
            return try body(db)
        }
    }
}
