extension DatabaseError {
    /// Creates an error. Default: SQLite's message for `resultCode`.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR, message: String? = nil,
        sql: String? = nil, arguments: StatementArguments? = nil, publicStatementArguments: Bool = false
    ) {
        self.init(
            resultCode, message, nil, sql: sql, boundArguments: arguments.map(ErrorArguments.init),
            publicStatementArguments: publicStatementArguments)
    }

    /// The arguments of the statement that failed. They may be secrets: keep them out of logs.
    public var arguments: StatementArguments? { (boundArguments as? ErrorArguments)?.arguments }

    /// Returns the error as that of a statement.
    func executing(
        _ sql: String?, arguments: StatementArguments? = nil, publicStatementArguments: Bool = false,
        hidesMessage: Bool = false
    ) -> DatabaseError {
        DatabaseError(
            extendedResultCode, hidesMessage ? nil : message, details, sql: sql,
            boundArguments: arguments.map(ErrorArguments.init), publicStatementArguments: publicStatementArguments)
    }
}

private final class ErrorArguments: BoundArguments {
    let arguments: StatementArguments

    init(_ arguments: StatementArguments) {
        self.arguments = arguments
    }

    var isEmpty: Bool { arguments.isEmpty }

    var description: String { arguments.description }
}
