// SQL functions, under the names of SQLite's documentation: <https://www.sqlite.org/lang_corefunc.html>.

extension SQLExpression {
    static func aggregate(
        _ name: String, _ arguments: [any SQLExpressible],
        ordering: (any SQLOrderingTerm)? = nil, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        SQLExpression(
            node: .function(
                FunctionCall(
                    name: name, arguments: arguments.map(\.sqlExpression), isAggregate: true,
                    ordering: ordering?.sqlOrdering, filter: filter?.sqlExpression)))
    }
}

/// `ABS(value)`
public func abs(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("ABS", [value])
}

/// `LENGTH(value)`
public func length(_ value: some SQLSpecificExpressible) -> SQLExpression {
    .function("LENGTH", [value])
}

/// `COALESCE(…)`: the first value that is not NULL.
public func coalesce(_ values: some Collection<any SQLSpecificExpressible>) -> SQLExpression {
    // SQLite requires two arguments.
    switch values.count {
    case 0: .null
    case 1: values.first!.sqlExpression
    default: .function("COALESCE", Array(values))
    }
}

// MARK: - Aggregates

/// `AVG(value)`
public func average(
    _ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("AVG", [value], filter: filter)
}

/// `COUNT(counted)`: the number of rows in which it is not NULL.
public func count(_ counted: some SQLSpecificExpressible) -> SQLExpression {
    .aggregate("COUNT", [counted])
}

/// `COUNT(DISTINCT value)`
public func count(distinct value: some SQLSpecificExpressible) -> SQLExpression {
    SQLExpression(
        node: .function(
            .init(
                name: "COUNT", arguments: [value.sqlExpression], isAggregate: true, isDistinct: true)))
}

/// `MAX(value)`: the greatest value of all rows.
public func max(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    .aggregate("MAX", [value], filter: filter)
}

/// `MAX(…)`: the greatest of several values in one row.
public func max(
    _ value1: any SQLSpecificExpressible, _ value2: any SQLExpressible,
    _ values: any SQLExpressible...
) -> SQLExpression {
    .function("MAX", [value1, value2] + values)
}

/// `MIN(value)`: the least value of all rows.
public func min(_ value: some SQLSpecificExpressible, filter: (any SQLSpecificExpressible)? = nil) -> SQLExpression {
    .aggregate("MIN", [value], filter: filter)
}

/// `MIN(…)`: the least of several values in one row.
public func min(
    _ value1: any SQLSpecificExpressible, _ value2: any SQLExpressible,
    _ values: any SQLExpressible...
) -> SQLExpression {
    .function("MIN", [value1, value2] + values)
}

/// `SUM(value)`. NULL without values.
public func sum(
    _ value: some SQLSpecificExpressible,
    orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("SUM", [value], ordering: ordering, filter: filter)
}

/// `TOTAL(value)`. 0 without values.
public func total(
    _ value: some SQLSpecificExpressible,
    orderBy ordering: (any SQLOrderingTerm)? = nil,
    filter: (any SQLSpecificExpressible)? = nil
) -> SQLExpression {
    .aggregate("TOTAL", [value], ordering: ordering, filter: filter)
}

// MARK: - Dates

/// `JULIANDAY(value, …)`. <https://www.sqlite.org/lang_datefunc.html>
public func julianDay(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .function("JULIANDAY", [value] + modifiers)
}

/// `DATETIME(value, …)`. <https://www.sqlite.org/lang_datefunc.html>
public func dateTime(_ value: some SQLSpecificExpressible, _ modifiers: SQLDateModifier...) -> SQLExpression {
    .function("DATETIME", [value] + modifiers)
}

/// A modifier of a date, for ``dateTime(_:_:)`` and ``julianDay(_:_:)``.
/// <https://www.sqlite.org/lang_datefunc.html#modifiers>
public enum SQLDateModifier: SQLSpecificExpressible, Sendable {
    case day(Int)
    case hour(Int)
    case minute(Int)
    case second(Double)
    case month(Int)
    case year(Int)
    case startOfMonth
    case startOfYear
    case startOfDay
    case weekday(Int)
    case unixEpoch
    case localTime
    case utc

    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { text.sqlExpression }

    private var text: String {
        switch self {
        case .day(let count): "\(count) days"
        case .hour(let count): "\(count) hours"
        case .minute(let count): "\(count) minutes"
        case .second(let count): "\(count) seconds"
        case .month(let count): "\(count) months"
        case .year(let count): "\(count) years"
        case .startOfMonth: "start of month"
        case .startOfYear: "start of year"
        case .startOfDay: "start of day"
        case .weekday(let day): "weekday \(day)"
        case .unixEpoch: "unixepoch"
        case .localTime: "localtime"
        case .utc: "utc"
        }
    }
}

// MARK: - Members

extension SQLSpecificExpressible {
    /// `LIKE`, with an optional escape character.
    /// <https://www.sqlite.org/lang_expr.html#the_like_glob_regexp_match_and_extract_operators>
    public func like(_ pattern: some SQLExpressible, escape: (any SQLExpressible)? = nil) -> SQLExpression {
        SQLExpression(
            node: .like(
                sqlExpression, pattern.sqlExpression, escape: escape?.sqlExpression, isNegated: false))
    }

    /// Swift's `capitalized`.
    public var capitalized: SQLExpression { .function("swiftCapitalizedString", [self]) }

    /// Swift's `lowercased()`.
    public var lowercased: SQLExpression { .function("swiftLowercaseString", [self]) }

    /// Swift's `uppercased()`.
    public var uppercased: SQLExpression { .function("swiftUppercaseString", [self]) }

    /// Foundation's `localizedCapitalized`.
    public var localizedCapitalized: SQLExpression { .function("swiftLocalizedCapitalizedString", [self]) }

    /// Foundation's `localizedLowercase`.
    public var localizedLowercased: SQLExpression { .function("swiftLocalizedLowercaseString", [self]) }

    /// Foundation's `localizedUppercase`.
    public var localizedUppercased: SQLExpression { .function("swiftLocalizedUppercaseString", [self]) }

    /// The ascending order, which is the default. NULL is first.
    public var asc: SQLOrdering { SQLOrdering(node: .term(sqlExpression, .ascending)) }

    /// The descending order. NULL is last.
    public var desc: SQLOrdering { SQLOrdering(node: .term(sqlExpression, .descending)) }

    /// The ascending order, with NULL last.
    public var ascNullsLast: SQLOrdering { SQLOrdering(node: .term(sqlExpression, .ascendingNullsLast)) }

    /// The descending order, with NULL first.
    public var descNullsFirst: SQLOrdering { SQLOrdering(node: .term(sqlExpression, .descendingNullsFirst)) }

    /// Returns a selection of the expression under another name: `AS key`.
    public func forKey(_ key: String) -> SQLSelection {
        SQLSelection(node: .named(sqlExpression, key))
    }

    /// Returns a selection of the expression under the name of a coding key.
    public func forKey(_ key: some CodingKey) -> SQLSelection {
        forKey(key.stringValue)
    }
}
