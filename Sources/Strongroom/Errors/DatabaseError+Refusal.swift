extension DatabaseError {
    /// The rule of ``Restrictions`` that a statement has broken.
    ///
    /// A structure and not an enumeration, so that later versions can add rules: a `switch` needs a `default`.
    public struct RestrictionRule: Hashable, Sendable, CustomStringConvertible {
        /// The name of the rule. It never changes, and can be logged.
        public let description: String

        private init(_ name: String) { description = name }
    }

    /// The refusal of a statement, or of its result, by ``Restrictions``.
    public struct Refusal: Hashable, Sendable {
        /// The rule that was broken.
        public let rule: RestrictionRule

        /// The name of the table, column, function, pragma or common table expression, such as `user.password`. Nil for
        /// limits.
        public let object: String?

        /// The limit that was exceeded, in the unit of its rule: rows, bytes, seconds, levels, terms or columns. Nil
        /// for objects.
        public let limit: Double?

        init(_ rule: RestrictionRule, object: String? = nil, limit: Double? = nil) {
            (self.rule, self.object, self.limit) = (rule, object, limit)
        }
    }

    /// The rule of ``Restrictions`` that was broken, and the object. Nil unless ``reason-swift.property`` is
    /// ``Reason/restricted``.
    public var refusal: Refusal? { details?.refusal }
}

extension DatabaseError.RestrictionRule {
    // MARK: Objects

    /// The statement is not a query, nor a pragma that only returns a value.
    public static let statement = Self("statement")

    /// The table or view may not be read, or does not exist.
    public static let table = Self("table")

    /// The column may not be read.
    public static let column = Self("column")

    /// The function may not be called.
    public static let function = Self("function")

    /// The pragma may not be run.
    public static let pragma = Self("pragma")

    /// The common table expression has the name of a table, a view or a module of the database. Give it another one.
    public static let commonTableName = Self("commonTableName")

    /// The statement was prepared outside of the restricted access.
    public static let preparedBefore = Self("preparedBefore")

    // MARK: Limits

    /// The statement has more rows than ``Restrictions/maximumRowCount``. Those before were returned.
    public static let rows = Self("rows")

    /// A text, a blob or a row has more bytes than ``Restrictions/maximumCellByteCount``.
    public static let cellBytes = Self("cellBytes")

    /// The access took longer than ``Restrictions/maximumDuration``.
    public static let duration = Self("duration")

    /// SQLite needed more memory than ``Restrictions/maximumMemoryByteCount``.
    public static let memory = Self("memory")

    /// An expression is nested more deeply than ``Restrictions/maximumExpressionDepth``.
    public static let expressionDepth = Self("expressionDepth")

    /// A compound query has more terms than ``Restrictions/maximumCompoundTermCount``.
    public static let compoundTerms = Self("compoundTerms")

    /// The statement's text is longer than ``Restrictions/maximumStatementByteCount``, or its program is too long.
    public static let statementLength = Self("statementLength")

    /// The statement returns more columns than a restricted statement may.
    public static let columns = Self("columns")

    /// The pattern of `LIKE` or `GLOB` is longer than a restricted statement's may be.
    public static let patternLength = Self("patternLength")
}

extension DatabaseError {
    /// Creates the error of a statement that ``Restrictions`` refuse.
    init(
        _ refusal: Refusal, code: ResultCode = .SQLITE_AUTH, _ message: String, advice: String? = nil,
        sql: String? = nil
    ) {
        self.init(code, message, Details(reason: .restricted, advice: advice, refusal: refusal), sql: sql)
    }
}
