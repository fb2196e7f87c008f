import Strongroom
import Testing

/// Makes a token of each byte's letter: a tokenizer by hand.
final class LetterTokenizer: FTS5CustomTokenizer {
    static let name = "letters"

    init(db: Database, arguments: [String]) throws {
        if let message = arguments.first {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "letters: \(message)")
        }
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        for index in 0..<nText where pText![Int(index)] != 0x20 {
            let code = tokenCallback(context, 0, pText! + Int(index), 1, index, index + 1)
            if code != 0 { return code }
        }
        return 0
    }
}

/// Drops some words, and finds others under two names.
final class SynonymTokenizer: FTS5WrapperTokenizer {
    static let name = "synonyms"

    let wrappedTokenizer: any FTS5Tokenizer
    private let stopWords: Set<String>

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(.unicode61())
        // The database is there for tokenizers that need it.
        stopWords = try Set(String.fetchAll(db, sql: "SELECT 'the' UNION SELECT 'to'"))
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if token == "bomb" { throw DatabaseError(resultCode: .SQLITE_CONSTRAINT, message: "no bombs here") }
        if token == "trap" { throw Trap() }
        if stopWords.contains(token) { return }
        try tokenCallback(token, flags)
        if token == "first", tokenization.contains(.document) { try tokenCallback("1st", [flags, .colocated]) }
    }
}

struct Trap: Error, CustomStringConvertible {
    let description = "it was a trap"
}

/// A wrapper around a wrapper.
final class NestedTokenizer: FTS5WrapperTokenizer {
    static let name = "nested"

    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(SynonymTokenizer.tokenizerDescriptor())
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        try tokenCallback(token.uppercased(), flags)
    }
}

/// Counts how many of it there are.
final class CountedTokenizer: FTS5WrapperTokenizer {
    static let name = "counted"

    // Touched by one test, in the access that it waits for.
    nonisolated(unsafe) static var count = 0

    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(.ascii())
        Self.count += 1
    }

    deinit {
        Self.count -= 1
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        try tokenCallback(token, flags)
    }
}

/// A table `document` with a column `body`, and the tokenizer.
func withTokenizer<Tokenizer: FTS5CustomTokenizer>(
    _ tokenizer: Tokenizer.Type, _ body: (Database) throws -> Void
) throws {
    try withDatabase { (db) throws in
        db.add(tokenizer: SynonymTokenizer.self)
        db.add(tokenizer: tokenizer)
        try db.create(virtualTable: "document", using: FTS5()) { t in
            t.tokenizer = tokenizer.tokenizerDescriptor()
            t.column("body")
        }
        try body(db)
    }
}
