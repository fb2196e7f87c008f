import Foundation

/// A format that prints the rows of each statement as an array of JSON objects. Blobs are encoded as `Data`.
///
/// ```text
/// [{"name":"Arthur","score":500},
/// {"name":"Craig","score":null}]
/// ```
public struct JSONDumpFormat: DumpFormat, Sendable {
    /// Blobs in Base64, infinities as `"inf"` and `"-inf"`, slashes as they are.
    public static var defaultEncoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        encoder.dataEncodingStrategy = .base64
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        return encoder
    }

    /// Encodes names and values, one by one: columns stay in the order of the statement, whatever its output
    /// formatting.
    public var encoder: JSONEncoder

    private var hasRows = false

    /// Creates the format.
    ///
    /// - parameter encoder: encodes names and values. Default: ``defaultEncoder``.
    public init(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) {
        self.encoder = encoder
    }

    /// Writes the current row of a statement.
    public mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws {
        stream.write(hasRows ? ",\n" : isPretty ? "[\n" : "[")
        hasRows = true
        let members = try zip(statement.shownNames, statement.shownValues).map { name, value in
            try "\(json(name)):\(json(value))"
        }
        if isPretty {
            stream.write("  {\n    " + members.joined(separator: ",\n    ") + "\n  }")
        } else {
            stream.write("{" + members.joined(separator: ",") + "}")
        }
    }

    /// Ends the output of a statement.
    public mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
        if hasRows {
            stream.write(isPretty ? "\n]\n" : "]\n")
        } else if statement.columnCount > 0 {
            stream.write("[]\n")
        }
        hasRows = false
    }

    private var isPretty: Bool { encoder.outputFormatting.contains(.prettyPrinted) }

    private func json(_ value: DatabaseValue) throws -> String {
        switch value.storage {
        case .null: "null"
        case .int64(let value): try json(value)
        case .double(let value): try json(value)
        case .string(let value): try json(value)
        case .blob(let value): try json(value)
        }
    }

    private func json(_ value: some Encodable) throws -> String {
        try String(decoding: encoder.encode(value), as: UTF8.self)
    }
}

extension DumpFormat where Self == JSONDumpFormat {
    /// A format that prints the rows of each statement as an array of JSON objects.
    ///
    /// - parameter encoder: encodes names and values; `prettyPrinted` spreads the objects over lines.
    public static func json(encoder: JSONEncoder = JSONDumpFormat.defaultEncoder) -> Self {
        JSONDumpFormat(encoder: encoder)
    }
}
