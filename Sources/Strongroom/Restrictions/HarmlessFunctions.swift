/// The functions of SQLite that a restricted statement may call: they neither write, nor load code, nor reach files,
/// nor tell of other statements.
///
/// Source: <https://www.sqlite.org/lang_corefunc.html> and its kin.
enum HarmlessFunctions {
    /// The functions that SQLite has built in. The program can replace them: then they are its own.
    static let builtIn: Set = [
        // https://www.sqlite.org/lang_corefunc.html
        "->", "->>", "abs", "char", "coalesce", "concat", "concat_ws", "format", "glob", "hex", "if", "ifnull", "iif",
        "instr", "length", "like", "likelihood", "likely", "lower", "ltrim", "max", "min", "nullif", "octet_length",
        "printf", "quote", "random", "randomblob", "replace", "round", "rtrim", "sign", "soundex", "sqlite_version",
        "substr", "substring", "subtype", "trim", "typeof", "unhex", "unicode", "unistr", "unistr_quote", "unlikely",
        "upper", "zeroblob",
        // https://www.sqlite.org/lang_datefunc.html
        "current_date", "current_time", "current_timestamp", "date", "datetime", "julianday", "strftime", "time",
        "timediff", "unixepoch",
        // https://www.sqlite.org/lang_aggfunc.html
        "avg", "count", "group_concat", "median", "percentile", "percentile_cont", "percentile_disc", "string_agg",
        "sum", "total",
        // https://www.sqlite.org/windowfunctions.html
        "cume_dist", "dense_rank", "first_value", "lag", "last_value", "lead", "nth_value", "ntile", "percent_rank",
        "rank", "row_number",
        // https://www.sqlite.org/lang_mathfunc.html
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "ceiling", "cos", "cosh", "degrees", "exp",
        "floor", "ln", "log", "log10", "log2", "mod", "pi", "pow", "power", "radians", "sin", "sinh", "sqrt", "tan",
        "tanh", "trunc",
        // https://www.sqlite.org/json1.html
        "json", "json_array", "json_array_length", "json_error_position", "json_extract", "json_group_array",
        "json_group_object", "json_insert", "json_object", "json_patch", "json_pretty", "json_quote", "json_remove",
        "json_replace", "json_set", "json_type", "json_valid", "jsonb", "jsonb_array", "jsonb_extract",
        "jsonb_group_array", "jsonb_group_object", "jsonb_insert", "jsonb_object", "jsonb_patch", "jsonb_remove",
        "jsonb_replace", "jsonb_set",
    ]

    /// The functions of full-text tables, which SQLite registers like those of programs.
    /// <https://www.sqlite.org/fts5.html#_auxiliary_functions_>
    static let ofFullText: Set = ["bm25", "highlight", "match", "matchinfo", "offsets", "snippet"]

    /// The functions that return rows. <https://www.sqlite.org/vtab.html#tabfunc2>
    static let ofRows: Set = ["generate_series", "json_each", "json_tree"]

    /// The pragmas that a restricted statement may run, without a value.
    static let pragmas: Set = ["application_id", "data_version", "encoding", "schema_version", "user_version"]
}
