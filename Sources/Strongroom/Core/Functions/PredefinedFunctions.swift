import Foundation

// Functions and collations of every connection. Views, triggers, indexes and columns of existing files use them under
// these names, which are GRDB's.

extension DatabaseFunction {
    /// `String.capitalized` in SQL.
    public static let capitalize = DatabaseFunction("swiftCapitalizedString") { $0.capitalized }

    /// `String.lowercased()` in SQL, for letters beyond SQLite's `LOWER`.
    public static let lowercase = DatabaseFunction("swiftLowercaseString") { $0.lowercased() }

    /// `String.uppercased()` in SQL, for letters beyond SQLite's `UPPER`.
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

    /// Creates a function of one string. NULL for values that are not text.
    private convenience init(
        _ name: String, pure: Bool = true, transform: @escaping @Sendable (String) -> String
    ) {
        self.init(name, argumentCount: 1, pure: pure) { values in
            String.fromDatabaseValue(values[0]).map(transform)
        }
    }
}

extension DatabaseCollation {
    /// Compares like Swift's `<`.
    public static let unicodeCompare = DatabaseCollation("swiftCompare") { a, b in
        a == b ? .orderedSame : a < b ? .orderedAscending : .orderedDescending
    }

    /// Compares without regard to case.
    public static let caseInsensitiveCompare =
        DatabaseCollation("swiftCaseInsensitiveCompare") { $0.caseInsensitiveCompare($1) }

    /// Compares without regard to case, in the order of the user's language.
    public static let localizedCaseInsensitiveCompare =
        DatabaseCollation("swiftLocalizedCaseInsensitiveCompare") { $0.localizedCaseInsensitiveCompare($1) }

    /// Compares in the order of the user's language.
    public static let localizedCompare = DatabaseCollation("swiftLocalizedCompare") { $0.localizedCompare($1) }

    /// Compares like file browsers: numbers within text by their value.
    public static let localizedStandardCompare =
        DatabaseCollation("swiftLocalizedStandardCompare") { $0.localizedStandardCompare($1) }

    static let predefined: [DatabaseCollation] = [
        .unicodeCompare, .caseInsensitiveCompare, .localizedCaseInsensitiveCompare, .localizedCompare,
        .localizedStandardCompare,
    ]
}
