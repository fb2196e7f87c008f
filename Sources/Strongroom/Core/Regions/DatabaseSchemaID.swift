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

    /// The connection's own tables, which go with it.
    public static let temp = DatabaseSchemaID(.temp)

    /// The database that was attached under that name.
    public static func attached(_ name: String) -> DatabaseSchemaID {
        DatabaseSchemaID(.attached(name))
    }

    /// The name that SQL knows it by.
    public var name: String {
        switch role {
        case .main: "main"
        case .temp: "temp"
        case .attached(let name): name
        }
    }

    /// The table that lists what is in the schema. <https://www.sqlite.org/schematab.html>
    public var schemaTableName: String {
        switch role {
        case .main: "sqlite_master"
        case .temp: "sqlite_temp_master"
        case .attached: "\(sql).sqlite_master"
        }
    }

    /// The name as it stands in SQL. SQLite's own names need no quotes.
    var sql: String {
        switch role {
        case .main, .temp: name
        case .attached: name.quotedDatabaseIdentifier
        }
    }

    /// The schema of a name as `PRAGMA database_list` spells it.
    init(named name: String) {
        switch name {
        case "main": self = .main
        case "temp": self = .temp
        default: self = .attached(name)
        }
    }
}

/// A table, view, index or trigger, told apart from its namesakes in other schemas.
public struct DatabaseObjectID: Hashable, Sendable {
    public var name: String
    public var schemaID: DatabaseSchemaID

    public init(name: String, schemaID: DatabaseSchemaID) {
        self.name = name
        self.schemaID = schemaID
    }

    /// Both names, quoted, as SQL takes them.
    var sql: String {
        "\(schemaID.name.quotedDatabaseIdentifier).\(name.quotedDatabaseIdentifier)"
    }
}
