import Foundation

/// The name of a database, as SQLite reads it if names can be URIs. <https://www.sqlite.org/uri.html>
struct SQLiteURI {
    /// The path, with escapes decoded.
    let path: String
    let parameters: [(name: String, value: String)]

    /// Creates the URI of a file name. Nil for a name that is not a URI.
    init?(_ name: String) {
        guard name.utf8.starts(with: "file:".utf8) else { return nil }
        var rest = Array(name.utf8.dropFirst("file:".utf8.count))[...]
        if rest.starts(with: Array("//".utf8)) { rest = rest.dropFirst(2).drop { $0 != UInt8(ascii: "/") } }
        rest = rest.prefix { $0 != UInt8(ascii: "#") }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        self.path = SQLiteURI.decoded(path)
        parameters = rest.dropFirst(path.count + 1).split(separator: UInt8(ascii: "&")).map { parameter in
            let name = parameter.prefix { $0 != UInt8(ascii: "=") }
            return (SQLiteURI.decoded(name), SQLiteURI.decoded(parameter.dropFirst(name.count + 1)))
        }
    }

    /// Creates the URI of a path. Nil for the path of a file. A URI begins with `file:/`, or refers to a database in
    /// memory: any other name is a possible file name.
    init?(path: String) {
        guard let uri = SQLiteURI(path) else { return nil }
        let isInMemory = uri.path == ":memory:" || uri.parameters.contains { $0 == ("mode", "memory") }
        guard isInMemory || path.utf8.starts(with: "file:/".utf8) else { return nil }
        self = uri
    }

    /// True if SQLCipher takes a key from it. Names are part of descriptions and error messages.
    var carriesKey: Bool {
        parameters.contains { ["key", "hexkey", "textkey"].contains($0.name.lowercased()) }
    }

    /// The VFS that opens the file. Nil for the default.
    var vfs: String? { parameters.last { $0.name == "vfs" }?.value }

    /// Returns the URI of a file.
    static func name(ofFile path: String) -> String {
        let safe = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "/-._~"))
        let absolute =
            path.utf8.first == UInt8(ascii: "/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return "file://" + (absolute.addingPercentEncoding(withAllowedCharacters: safe) ?? absolute)
    }

    /// Returns the URI of a database in memory that all connections of this process with the name share.
    static func sharedMemory(named name: String) -> String {
        let safe = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~ "))
        return "file:\(name.addingPercentEncoding(withAllowedCharacters: safe) ?? name)?mode=memory&cache=shared"
    }

    /// Returns the path of the file that SQLite opens under a name.
    static func path(of name: String) -> String {
        SQLiteURI(name)?.path ?? name
    }

    /// Decodes the escapes of a text. An escaped zero ends it.
    static func decoded(_ text: some Collection<UInt8>) -> String {
        var bytes: [UInt8] = [], rest = Array(text)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%"), let high = rest.first.flatMap({ nibble(hexDigit: $0) }),
                let low = rest.dropFirst().first.flatMap({ nibble(hexDigit: $0) })
            else {
                bytes.append(byte)
                continue
            }
            guard high << 4 | low != 0 else { break }
            bytes.append(high << 4 | low)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension DatabaseError {
    static let keyInURI = DatabaseError(
        refusing: "a database URI can't carry a key", advice: "set Configuration.encryption, or call usePassphrase(_:)")
}
