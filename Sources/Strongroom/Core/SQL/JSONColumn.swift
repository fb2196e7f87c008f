/// An expression that holds JSON. <https://www.sqlite.org/json1.html>
public protocol SQLJSONExpressible: SQLSpecificExpressible {}

extension SQLJSONExpressible {
    /// The SQL value at a path, by `->>`: `jsonColumn["name"]`, `jsonColumn["$.address.city"]`, `jsonColumn[0]`.
    public subscript(_ path: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(sqlExpression, .jsonExtract, path.sqlExpression))
    }

    /// The SQL value at a path, by `JSON_EXTRACT`.
    public func jsonExtract(atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [self, path])
    }

    /// A JSON array of the values at several paths, by `JSON_EXTRACT`.
    public func jsonExtract(atPaths paths: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_EXTRACT", [self] + Array(paths))
    }

    /// The JSON at a path, by `->`.
    public func jsonRepresentation(atPath path: some SQLExpressible) -> SQLExpression {
        SQLExpression(node: .binary(sqlExpression, .jsonRepresentation, path.sqlExpression))
    }
}

extension ColumnExpression where Self: SQLJSONExpressible {
    public var sqlExpression: SQLExpression { SQLExpression(node: .json(SQLExpression(node: .column(name)))) }
}

/// A column that holds JSON.
public struct JSONColumn: ColumnExpression, SQLJSONExpressible, Sendable {
    public var name: String

    public init(_ name: String) {
        self.name = name
    }

    /// The column that a coding key stands for.
    public init(_ codingKey: some CodingKey) {
        self.init(codingKey.stringValue)
    }
}

/// Some JSON expression, whatever its type.
public struct AnySQLJSONExpressible: SQLJSONExpressible {
    public let sqlExpression: SQLExpression

    public init(_ base: some SQLJSONExpressible) {
        self.init(expression: base.sqlExpression.holdingJSON)
    }

    init(expression: SQLExpression) {
        self.sqlExpression = expression
    }
}

extension SQLSpecificExpressible {
    /// The expression, known to hold JSON.
    public var asJSON: AnySQLJSONExpressible { AnySQLJSONExpressible(expression: sqlExpression.holdingJSON) }
}

extension SQLExpression {
    /// The expression, marked as JSON.
    var holdingJSON: SQLExpression {
        isKnownAsJSON ? self : SQLExpression(node: .json(self))
    }

    /// True if SQLite, or this library, knows that the value is JSON.
    private var isKnownAsJSON: Bool {
        switch node {
        case .json, .binary(_, .jsonRepresentation, _): true
        case .function(let call): Self.jsonMakers.contains(call.name)
        default: false
        }
    }

    /// The functions that always give JSON: others give what a path leads to, or tell something of the JSON.
    private static let jsonMakers: Set<String> = Set(["", "_ARRAY", "_OBJECT", "_INSERT", "_REPLACE", "_SET", "_REMOVE", "_PATCH",
        "_GROUP_ARRAY", "_GROUP_OBJECT", "_QUOTE"].flatMap { ["JSON" + $0, "JSONB" + $0] })

    /// The expression as a part of other JSON: SQLite takes text for a string there, unless a function says that it is
    /// JSON. <https://www.sqlite.org/json1.html#value_arguments>
    var jsonArgument: SQLExpression {
        switch node {
        case .json(let base): base.isNull ? base : .function(Self.jsonFunction, [base])
        case .qualified(let base, let alias): SQLExpression(node: .qualified(base.jsonArgument, alias))
        default: self
        }
    }

    /// The binary form is faster, where SQLite has it.
    private static let jsonFunction = Database.sqliteLibVersionNumber >= 3_045_000 ? "JSONB" : "JSON"
}
