extension String {
    /// The words of a text as the plainest tokenizers of SQLite find them: letters and digits of ASCII, and whatever is beyond
    /// it. In lowercase, so that no word is an operator of a pattern.
    var searchTokens: [String] {
        unicodeScalars.split { $0.isASCII && !$0.isASCIIWordPart }.map { word in
            var token = ""
            token.unicodeScalars += word.map { ("A"..."Z").contains($0) ? Unicode.Scalar(UInt8($0.value) | 0x20) : $0 }
            return token
        }
    }
}

extension Unicode.Scalar {
    /// Whether this is a letter or a digit of ASCII.
    var isASCIIWordPart: Bool {
        switch self {
        case "a"..."z", "A"..."Z", "0"..."9": true
        default: false
        }
    }
}

extension Database {
    /// Runs `body` with a connection to nothing: for what SQLite can tell without any data.
    static func inMemory<T>(_ body: (Database) throws -> T) throws -> T {
        let db = try Database(path: ":memory:", description: "memory", configuration: Configuration())
        return try db.withSoleAccess { db in
            try db.setUpPlainly(derived: nil, header: 0)
            return try body(db)
        }
    }
}
