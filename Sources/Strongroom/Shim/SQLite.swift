import CSQLCipher

/// A raw connection pointer of SQLite.
public typealias SQLiteConnection = OpaquePointer

/// A raw statement pointer of SQLite.
public typealias SQLiteStatement = OpaquePointer

/// The SQLite inside SQLCipher: functions of `sqlite3.h` without a connection.
enum SQLite {
    /// The version, such as 3046001. <https://www.sqlite.org/c3ref/libversion.html>
    static var versionNumber: CInt { sqlite3_libversion_number() }

    /// Returns true if the library has an option of <https://www.sqlite.org/compile.html>.
    static func isCompiled(with option: String) -> Bool { sqlite3_compileoption_used(option) != 0 }

    /// Returns the text for a result code. <https://www.sqlite.org/c3ref/errcode.html>
    static func text(for code: CInt) -> String? { sqlite3_errstr(code).map { String(cString: $0) } }

    /// Returns true if the text ends with the end of a statement. <https://www.sqlite.org/c3ref/complete.html>
    static func isComplete(_ sql: String) -> Bool { sqlite3_complete(sql) != 0 }

    /// Sets the limit of SQLite's memory, beyond which it refuses memory. Returns the former one.
    /// <https://www.sqlite.org/c3ref/hard_heap_limit64.html>
    static func limitHeap(_ bytes: Int64) -> Int64 { sqlite3_hard_heap_limit64(bytes) }

    /// Returns true if a word is a keyword of SQL. <https://www.sqlite.org/c3ref/keyword_check.html>
    static func isKeyword(_ word: String) -> Bool { sqlite3_keyword_check(word, CInt(clamping: word.utf8.count)) != 0 }

    /// Returns true if two texts are equal, regardless of the case of ASCII letters.
    /// <https://www.sqlite.org/c3ref/stricmp.html>
    static func isSame(_ text: UnsafePointer<CChar>, _ other: StaticString) -> Bool {
        sqlite3_stricmp(text, other.cString) == 0
    }

    /// Returns a number as formatted by SQLite, whose formats include more than C's. Nil without memory.
    /// <https://www.sqlite.org/printf.html>
    static func text(of number: Double, format: String) -> String? {
        guard let text = withVaList([number], { sqlite3_vmprintf(format, $0) }) else { return nil }
        defer { sqlite3_free(text) }
        return String(cString: text)
    }
}
