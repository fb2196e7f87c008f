import Foundation

// Functions and collations that every connection has. Views, triggers, indexes and columns of existing files use them
// by these names, which are GRDB's.

extension DatabaseFunction {
    /// `String.capitalized` in SQL.
    public static let capitalize = DatabaseFunction("swiftCapitalizedString") { $0.capitalized }

    /// `String.lowercased()` in SQL, for more letters than SQLite's `LOWER` knows.
    public static let lowercase = DatabaseFunction("swiftLowercaseString") { $0.lowercased() }

    /// `String.uppercased()` in SQL, for more letters than SQLite's `UPPER` knows.
    public static let uppercase = DatabaseFunction("swiftUppercaseString") { $0.uppercased() }

    /// `String.localizedCapitalized` in SQL.
    public static let localizedCapitalize =
        DatabaseFunction("swiftLocalizedCapitalizedString", pure: false) { $0.localizedCapitalized }

    /// `String.localizedLowercase` in SQL.
    public static let localizedLowercase =
        DatabaseFunction("swiftLocalizedLowercaseString", pure: false) { $0.localizedLowercase }

    /// `String.localizedUppercase` in SQL.
    public static let localizedUppercase =
        DatabaseFunction("swiftLocalizedUppercaseString", pure: false) { $0.localizedUppercase }

    static let predefined: [DatabaseFunction] = [
        .capitalize, .lowercase, .uppercase, .localizedCapitalize, .localizedLowercase, .localizedUppercase,
    ]

    /// A function of one string; NULL for all that is not text.
    private convenience init(
        _ name: String, pure: Bool = true, transform: @escaping @Sendable (String) -> String)
    {
        self.init(name, argumentCount: 1, pure: pure) { values in
            String.fromDatabaseValue(values[0]).map(transform)
        }
    }
}

extension DatabaseCollation {
    /// Compares as Swift's `<` does.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { a, b in
        a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }

    /// Compares without regard to case.
    public static let caseInsensitiveCompare =
        DatabaseCollation("swiftCaseInsensitiveCompare") { $0.caseInsensitiveCompare($1) }

    /// Compares without regard to case, as the user's language orders.
    public static let localizedCaseInsensitiveCompare =
        DatabaseCollation("swiftLocalizedCaseInsensitiveCompare") { $0.localizedCaseInsensitiveCompare($1) }

    /// Compares as the user's language orders.
    public static let localizedCompare = DatabaseCollation("swiftLocalizedCompare") { $0.localizedCompare($1) }

    /// Compares as file browsers do: numbers within text by their value.
    public static let localizedStandardCompare =
        DatabaseCollation("swiftLocalizedStandardCompare") { $0.localizedStandardCompare($1) }

    static let predefined: [DatabaseCollation] = [
        .unicodeCompare, .caseInsensitiveCompare, .localizedCaseInsensitiveCompare, .localizedCompare,
        .localizedStandardCompare,
    ]
}
