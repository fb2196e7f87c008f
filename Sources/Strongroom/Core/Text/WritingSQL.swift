/// The functions and pragmas with which SQL that only reads could write, or reach other files.
enum WritingSQL {
    /// The functions that write, load code, or change state that others rely on.
    static let functions: Set = ["load_extension", "sqlcipher_export", "writefile", "edit", "fts3_tokenizer"]

    /// Returns true if a pragma only returns a value, or only changes the connection.
    static func isReading(pragma name: String, value: String?) -> Bool {
        value == nil ? !acting.contains(name) : asking.contains(name)
    }

    /// The pragmas that act without a value.
    private static let acting: Set = ["optimize", "incremental_vacuum", "wal_checkpoint", "cipher_migrate"]

    /// The pragmas whose value selects what they return, or how this connection reads.
    private static let asking: Set = [
        "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
        "foreign_key_check",
        "integrity_check", "quick_check", "case_sensitive_like", "cache_size", "busy_timeout",
        "reverse_unordered_selects",
        "automatic_index", "analysis_limit", "threads", "mmap_size", "cache_spill", "cell_size_check",
    ]
}
