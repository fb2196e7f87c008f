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
        self.init(expression: base.sqlExpression)
    }

    init(expression: SQLExpression) {
        self.sqlExpression = expression
    }
}

extension SQLSpecificExpressible {
    /// The expression, known to hold JSON.
    public var asJSON: AnySQLJSONExpressible { AnySQLJSONExpressible(expression: sqlExpression) }
}
