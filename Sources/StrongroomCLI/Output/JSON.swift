/// A value as one line of JSON, with members in the given order.
enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case list([JSON])
    case object([(String, JSON)])

    static func count(_ value: Int) -> JSON { .integer(Int64(value)) }
    static func optional(_ value: Int?) -> JSON { value.map { .integer(Int64($0)) } ?? .null }
    static func optional(_ value: String?) -> JSON { value.map { .text($0) } ?? .null }

    var line: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        // JSON has no infinity; a number too large for any reader is read as one.
        case .real(let value): value.isFinite ? String(value) : value < 0 ? "-1e999" : "1e999"
        case .text(let value): Self.quoted(value)
        case .list(let values): "[" + values.map(\.line).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.map { Self.quoted($0) + ":" + $1.line }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20:
                quoted += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
