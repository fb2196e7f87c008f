/// A type that represents an expression whose value is JSON. <https://www.sqlite.org/json1.html>
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

extension SQLJSONExpressible {
    /// The SQL value at a path, by `->>`: `jsonColumn["name"]`, `jsonColumn["$.address.city"]`, `jsonColumn[0]`.
    public subscript(_ path: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(sqlExpression, .jsonExtract, path.sqlExpression))
    }

    /// Returns the SQL value at a path, by `JSON_EXTRACT`.
    public func jsonExtract(atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [self, path])
    }

    /// Returns a JSON array of the values at several paths, by `JSON_EXTRACT`.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_EXTRACT", [self] + Array(paths))
    }

    /// Returns the JSON at a path, by `->`.
    public func jsonRepresentation(atPath path: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(sqlExpression, .jsonRepresentation, path.sqlExpression))
    }
}

extension ColumnExpression where Self: SQLJSONExpressible {
    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { SQLExpression(node: .json(SQLExpression(node: .column(name)))) }
}

/// A column whose values are JSON.
public struct JSONColumn: ColumnExpression, SQLJSONExpressible, Sendable {
    /// The name of the column.
    public var name: String

    /// Creates a column from its name.
    public init(_ name: String) {
        self.name = name
    }

    /// Creates a column from a coding key.
    public init(_ codingKey: some CodingKey) {
        self.init(codingKey.stringValue)
    }
}

/// A type-erased JSON expression.
public struct AnySQLJSONExpressible: SQLJSONExpressible {
    /// The wrapped expression.
    public let sqlExpression: SQLExpression

    /// Creates an expression that wraps another one.
    public init(_ base: some SQLJSONExpressible) {
        self.init(expression: base.sqlExpression.holdingJSON)
    }

    init(expression: SQLExpression) {
        self.sqlExpression = expression
    }
}

extension SQLSpecificExpressible {
    /// The expression, marked as JSON.
    public var asJSON: AnySQLJSONExpressible { AnySQLJSONExpressible(expression: sqlExpression.holdingJSON) }
}

extension SQLExpression {
    /// The expression, marked as JSON.
    var holdingJSON: SQLExpression {
        isKnownAsJSON ? self : SQLExpression(node: .json(self))
    }

    /// True if SQLite or this library treats the value as JSON already.
    private var isKnownAsJSON: Bool {
        switch node {
        case .json, .binary(_, .jsonRepresentation, _): true
        case .function(let call): Self.jsonMakers.contains(call.name)
        default: false
        }
    }

    /// The functions that always return JSON. Others return the value at a path, or a property of the JSON.
    private static let jsonMakers: Set<String> = Set(
        [
            "", "_ARRAY", "_OBJECT", "_INSERT", "_REPLACE", "_SET", "_REMOVE", "_PATCH",
            "_GROUP_ARRAY", "_GROUP_OBJECT", "_QUOTE",
        ].flatMap { ["JSON" + $0, "JSONB" + $0] })

    /// The expression as a part of other JSON. SQLite takes text as a string there, unless a function marks it as JSON.
    /// <https://www.sqlite.org/json1.html#value_arguments>
    var jsonArgument: SQLExpression {
        switch node {
        case .json(let base): base.isNull ? base : .function(Self.jsonFunction, [base])
        case .qualified(let base, let alias): SQLExpression(node: .qualified(base.jsonArgument, alias))
        default: self
        }
    }

    /// The name of the function. The binary format is faster, if SQLite has it.
    private static let jsonFunction = SQLite.versionNumber >= 3_045_000 ? "JSONB" : "JSON"
}
