extension Database {
    // MARK: - Functions of JSON
    //
    // Each is the SQL function of the same name: <https://www.sqlite.org/json1.html>,
    // <https://www.sqlite.org/jsonb.html>.

    /// The formats that are valid JSON. <https://www.sqlite.org/json1.html#jvalid>
    public struct JSONValidationOptions: OptionSet, Sendable {
        /// The bits of the set, which are those of `JSON_VALID`.
        public let rawValue: Int

        /// Creates a set from its bits.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// Text that is JSON.
        public static let json = JSONValidationOptions(rawValue: 1)

        /// Text that is JSON5.
        public static let json5 = JSONValidationOptions(rawValue: 2)

        /// Blobs that look like JSONB.
        public static let probablyJSONB = JSONValidationOptions(rawValue: 4)

        /// Blobs that are JSONB.
        public static let jsonb = JSONValidationOptions(rawValue: 8)
    }

    /// Returns a call of the SQL function `JSON`.
    public static func json(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON", [value])
    }

    /// Returns a call of the SQL function `JSON_ERROR_POSITION`.
    public static func jsonErrorPosition(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ERROR_POSITION", [value])
    }

    /// Returns a call of the SQL function `JSON_QUOTE`.
    public static func jsonQuote(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_QUOTE", [value.sqlExpression.jsonArgument])
    }

    /// Returns a call of the SQL function `JSON_ARRAY_LENGTH`.
    public static func jsonArrayLength(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value])
    }

    /// Returns a call of the SQL function `JSON_ARRAY_LENGTH`.
    public static func jsonArrayLength(
        _ value: some SQLExpressible, atPath path: some SQLExpressible
    ) -> SQLExpression {
        .function("JSON_ARRAY_LENGTH", [value, path])
    }

    /// Returns a call of the SQL function `JSON_TYPE`.
    public static func jsonType(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value])
    }

    /// Returns a call of the SQL function `JSON_TYPE`.
    public static func jsonType(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_TYPE", [value, path])
    }

    /// Returns a call of the SQL function `JSON_VALID`.
    public static func jsonIsValid(
        _ value: some SQLExpressible, options: JSONValidationOptions? = nil
    ) -> SQLExpression {
        options.map { .function("JSON_VALID", [value, $0.rawValue]) } ?? .function("JSON_VALID", [value])
    }

    /// Returns a call of the SQL function `JSONB`.
    public static func jsonb(_ value: some SQLExpressible) -> SQLExpression {
        .function("JSONB", [value])
    }

    /// Returns a call of the SQL function `JSON_ARRAY`.
    public static func jsonArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.sqlExpression.jsonArgument))
    }

    /// Returns a call of the SQL function `JSON_ARRAY`.
    public static func jsonArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSON_ARRAY", values.map(\.sqlExpression.jsonArgument))
    }

    /// Returns a call of the SQL function `JSON_OBJECT`.
    public static func jsonObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSON_OBJECT", jsonMembers(elements))
    }

    /// Returns a call of the SQL function `JSON_EXTRACT`.
    public static func jsonExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_EXTRACT", [value, path])
    }

    /// Returns a call of the SQL function `JSON_EXTRACT`.
    public static func jsonExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSON_EXTRACT", [value] + Array(paths))
    }

    /// Returns a call of the SQL function `JSON_INSERT`.
    public static func jsonInsert(
        _ value: some SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        jsonEdit("JSON_INSERT", value, assignments)
    }

    /// Returns a call of the SQL function `JSON_REPLACE`.
    public static func jsonReplace(
        _ value: some SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        jsonEdit("JSON_REPLACE", value, assignments)
    }

    /// Returns a call of the SQL function `JSON_SET`.
    public static func jsonSet(
        _ value: some SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        jsonEdit("JSON_SET", value, assignments)
    }

    /// Returns a call of the SQL function `JSON_PATCH`.
    public static func jsonPatch(_ value: some SQLExpressible, with patch: some SQLExpressible) -> SQLExpression {
        .function("JSON_PATCH", [value, patch])
    }

    /// Returns a call of the SQL function `JSON_REMOVE`.
    public static func jsonRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSON_REMOVE", [value, path])
    }

    /// Returns a call of the SQL function `JSON_REMOVE`.
    public static func jsonRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSON_REMOVE", [value] + Array(paths))
    }

    /// Returns a call of the SQL function `JSON_GROUP_ARRAY`.
    public static func jsonGroupArray(
        _ value: some SQLExpressible,
        orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        jsonGroup("JSON_GROUP_ARRAY", [], value, ordering: ordering, filter: filter)
    }

    /// Returns a call of the SQL function `JSON_GROUP_OBJECT`.
    public static func jsonGroupObject(
        key: some SQLExpressible, value: some SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        jsonGroup("JSON_GROUP_OBJECT", [key], value, filter: filter)
    }

    /// Returns a call of the SQL function `JSONB_ARRAY`.
    public static func jsonbArray(_ values: some Collection<some SQLExpressible>) -> SQLExpression {
        .function("JSONB_ARRAY", values.map(\.sqlExpression.jsonArgument))
    }

    /// Returns a call of the SQL function `JSONB_ARRAY`.
    public static func jsonbArray(_ values: some Collection<any SQLExpressible>) -> SQLExpression {
        .function("JSONB_ARRAY", values.map(\.sqlExpression.jsonArgument))
    }

    /// Returns a call of the SQL function `JSONB_OBJECT`.
    public static func jsonbObject(
        _ elements: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function("JSONB_OBJECT", jsonMembers(elements))
    }

    /// Returns a call of the SQL function `JSONB_EXTRACT`.
    public static func jsonbExtract(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSONB_EXTRACT", [value, path])
    }

    /// Returns a call of the SQL function `JSONB_EXTRACT`.
    public static func jsonbExtract(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSONB_EXTRACT", [value] + Array(paths))
    }

    /// Returns a call of the SQL function `JSONB_INSERT`.
    public static func jsonbInsert(
        _ value: some SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        jsonEdit("JSONB_INSERT", value, assignments)
    }

    /// Returns a call of the SQL function `JSONB_REPLACE`.
    public static func jsonbReplace(
        _ value: some SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        jsonEdit("JSONB_REPLACE", value, assignments)
    }

    /// Returns a call of the SQL function `JSONB_SET`.
    public static func jsonbSet(
        _ value: some SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        jsonEdit("JSONB_SET", value, assignments)
    }

    /// Returns a call of the SQL function `JSONB_PATCH`.
    public static func jsonbPatch(_ value: some SQLExpressible, with patch: some SQLExpressible) -> SQLExpression {
        .function("JSONB_PATCH", [value, patch])
    }

    /// Returns a call of the SQL function `JSONB_REMOVE`.
    public static func jsonbRemove(_ value: some SQLExpressible, atPath path: some SQLExpressible) -> SQLExpression {
        .function("JSONB_REMOVE", [value, path])
    }

    /// Returns a call of the SQL function `JSONB_REMOVE`.
    public static func jsonbRemove(
        _ value: some SQLExpressible, atPaths paths: some Collection<some SQLExpressible>
    ) -> SQLExpression {
        .function("JSONB_REMOVE", [value] + Array(paths))
    }

    /// Returns a call of the SQL function `JSONB_GROUP_ARRAY`.
    public static func jsonbGroupArray(
        _ value: some SQLExpressible,
        orderBy ordering: (any SQLOrderingTerm)? = nil,
        filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        jsonGroup("JSONB_GROUP_ARRAY", [], value, ordering: ordering, filter: filter)
    }

    /// Returns a call of the SQL function `JSONB_GROUP_OBJECT`.
    public static func jsonbGroupObject(
        key: some SQLExpressible, value: some SQLExpressible, filter: (any SQLSpecificExpressible)? = nil
    ) -> SQLExpression {
        jsonGroup("JSONB_GROUP_OBJECT", [key], value, filter: filter)
    }

    // MARK: - Arguments

    /// Returns the names and values, alternating.
    private static func jsonMembers(
        _ members: some Collection<(key: String, value: any SQLExpressible)>
    ) -> [any SQLExpressible] {
        members.flatMap { [$0.key, $0.value.sqlExpression.jsonArgument] as [any SQLExpressible] }
    }

    private static func jsonEdit(
        _ function: String, _ value: any SQLExpressible,
        _ assignments: some Collection<(key: String, value: any SQLExpressible)>
    ) -> SQLExpression {
        .function(function, [value] + jsonMembers(assignments))
    }

    private static func jsonGroup(
        _ function: String, _ key: [any SQLExpressible], _ value: some SQLExpressible,
        ordering: (any SQLOrderingTerm)? = nil, filter: (any SQLSpecificExpressible)?
    ) -> SQLExpression {
        .aggregate(function, key + [value.sqlExpression.jsonArgument], ordering: ordering, filter: filter)
    }
}
