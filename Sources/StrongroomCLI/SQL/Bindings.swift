import Strongroom

/// The values of `--bind name=value`, for the parameters of statements.
struct Bindings {
    private var values: [String: DatabaseValue] = [:]

    /// - throws: a `Failure` for malformed bindings.
    init(_ options: [String]) throws {
        for option in options {
            // A mark after the equals sign is a part of the value.
            let parts = option.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { Substring($0) }
            guard parts.count == 2, !parts[0].isEmpty else {
                throw Failure(
                    .usage, "--bind takes name=value, and \(option) is not; nothing was changed",
                    remedy: "Write --bind name=value")
            }
            let name = [":", "@", "$", "?"].contains(parts[0].prefix(1)) ? parts[0].dropFirst() : parts[0]
            values[String(name)] = Self.value(String(parts[1]))
        }
    }

    /// Returns a number if the text is exactly how the number is written; otherwise the text. `nan` and `inf` are text:
    /// SQL has no such literals, and SQLite stores the first number as NULL.
    private static func value(_ text: String) -> DatabaseValue {
        if let integer = Int64(text), String(integer) == text { return integer.databaseValue }
        if let real = Double(text), real.isFinite, String(real) == text { return real.databaseValue }
        return text.databaseValue
    }

    func arguments(of statement: Statement) throws -> StatementArguments {
        StatementArguments(
            try statement.parameterNames.enumerated().map { index, name in
                let name = name ?? "\(index + 1)"
                guard let value = values[name] else {
                    throw Failure(
                        .usage, "the parameter \(name) has no value; nothing was changed",
                        remedy: "Give --bind \(name)=VALUE")
                }
                return value
            })
    }
}
