// A schema is text, which SQLite keeps: it has no place for arguments.

extension Database {
    /// The SQL of a literal, with its arguments written out.
    ///
    /// - throws: `SQLITE_MISUSE` when there are too few arguments, or too many.
    func inlined(_ literal: SQL) throws -> String {
        let (sql, arguments) = try literal.build(self)
        return try InlineSQL.text(of: sql, arguments)
    }

    /// The SQL of an expression, with its values written out.
    func inlined(_ expression: some SQLExpressible) throws -> String {
        try inlined(SQL(elements: [.expression(expression.sqlExpression)]))
    }

    /// Columns, quoted and separated by `separator`.
    static func list(_ columns: [String], separator: String = ", ") -> String {
        columns.map(\.quotedDatabaseIdentifier).joined(separator: separator)
    }
}

/// Replaces the parameters of SQL by values.
private struct InlineSQL {
    private let bytes: [UInt8]
    private var index = 0
    private var arguments: ArraySlice<DatabaseValue>
    private let namedValues: [String: DatabaseValue]
    private var result: [UInt8] = []

    static func text(of sql: String, _ arguments: StatementArguments) throws -> String {
        if arguments.isEmpty { return sql }
        var inlining = InlineSQL(sql, arguments)
        try inlining.run()
        return String(decoding: inlining.result, as: UTF8.self)
    }

    private init(_ sql: String, _ arguments: StatementArguments) {
        bytes = Array(sql.utf8)
        self.arguments = arguments.values[...]
        namedValues = arguments.namedValues
    }

    private mutating func run() throws {
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
                copy(through: byte)
            case UInt8(ascii: "["):
                copy(through: UInt8(ascii: "]"))
            case UInt8(ascii: "-") where follows(UInt8(ascii: "-")):
                copy(through: UInt8(ascii: "\n"))
            case UInt8(ascii: "?"):
                try replaceParameter(named: false)
            case UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "$"):
                try replaceParameter(named: true)
            default:
                // A name is one piece: it may contain a dollar sign.
                copyWord()
            }
        }
        if !arguments.isEmpty { throw mismatch }
    }

    private func follows(_ byte: UInt8) -> Bool {
        index + 1 < bytes.count && bytes[index + 1] == byte
    }

    private mutating func copy(through end: UInt8) {
        repeat {
            result.append(bytes[index])
            index += 1
        } while index < bytes.count && bytes[index] != end
        if index < bytes.count {
            result.append(end)
            index += 1
        }
    }

    private mutating func copyWord() {
        repeat {
            result.append(bytes[index])
            index += 1
        } while index < bytes.count && Self.isWord(bytes[index]) && Self.isWord(bytes[index - 1])
    }

    private mutating func replaceParameter(named: Bool) throws {
        let start = index + 1
        index = start
        while index < bytes.count, Self.isWord(bytes[index]) { index += 1 }
        let name = String(decoding: bytes[start..<index], as: UTF8.self)
        guard named ? !name.isEmpty : name.isEmpty, let value = namedValues[name] ?? arguments.popFirst() else {
            throw mismatch
        }
        result += Array(value.sqlLiteral.utf8)
    }

    private var mismatch: DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "wrong number of arguments for SQL that has to be written out: a schema has no parameters",
            sql: String(decoding: bytes, as: UTF8.self))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
             UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...: true
        default: false
        }
    }
}
