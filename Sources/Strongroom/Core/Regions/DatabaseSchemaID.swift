/// One of the databases of a connection: the main one, the temporary one, or one that was attached.
///
/// Source: <https://www.sqlite.org/lang_naming.html>.
public struct DatabaseSchemaID: Hashable, Sendable {
    private enum Role: Hashable {
        case main
        case temp
        case attached(String)
    }

    private let role: Role

    private init(_ role: Role) {
        self.role = role
    }

    /// The database that the connection was opened on.
    public static let main = DatabaseSchemaID(.main)

    /// The temporary database of the connection, which is deleted when the connection is closed.
    public static let temp = DatabaseSchemaID(.temp)

    /// Returns the database that was attached under a name.
    public static func attached(_ name: String) -> DatabaseSchemaID {
        DatabaseSchemaID(.attached(name))
    }

    /// The name in SQL.
    public var name: String {
        switch role {
        case .main: "main"
        case .temp: "temp"
        case .attached(let name): name
        }
    }

    /// The table that lists the objects of the schema. <https://www.sqlite.org/schematab.html>
    public var schemaTableName: String {
        switch role {
        case .main: "sqlite_master"
        case .temp: "sqlite_temp_master"
        case .attached: "\(sql).sqlite_master"
        }
    }

    /// The name for SQL, quoted unless it is one of SQLite's own.
    var sql: String {
        switch role {
        case .main, .temp: name
        case .attached: name.quotedDatabaseIdentifier
        }
    }

    /// Creates the schema for a name of `PRAGMA database_list`.
    init(named name: String) {
        switch name {
        case "main": self = .main
        case "temp": self = .temp
        default: self = .attached(name)
        }
    }
}

/// A table, view, index or trigger, identified by its name and its schema.
public struct DatabaseObjectID: Hashable, Sendable {
    /// The name of the object.
    public var name: String
    /// The schema of the object.
    public var schemaID: DatabaseSchemaID

    /// Creates the identity of an object.
    public init(name: String, schemaID: DatabaseSchemaID) {
        self.name = name
        self.schemaID = schemaID
    }

    /// Both names, quoted for SQL.
    var sql: String {
        "\(schemaID.name.quotedDatabaseIdentifier).\(name.quotedDatabaseIdentifier)"
    }
}
