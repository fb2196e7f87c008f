extension Database {
    /// A number that changes with the schema. <https://www.sqlite.org/pragma.html#pragma_schema_version>
    public func schemaVersion() throws -> Int32 {
        try Int32.fetchOne(self, sql: "PRAGMA main.schema_version") ?? 0
    }
}
