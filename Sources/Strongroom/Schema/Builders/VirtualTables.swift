/// A module of virtual tables. <https://www.sqlite.org/vtab.html>
public protocol VirtualTableModule {
    /// The type that the body of `create(virtualTable:using:_:)` configures.
    associatedtype TableDefinition

    /// The name of the module in SQL.
    var moduleName: String { get }

    /// Returns a definition for the body to configure.
    func makeTableDefinition(configuration: VirtualTableConfiguration) -> TableDefinition

    /// Returns the arguments of the module, in SQL.
    func moduleArguments(for definition: TableDefinition, in db: Database) throws -> [String]

    /// Called after the table was created.
    func database(_ db: Database, didCreate tableName: String, using definition: TableDefinition) throws
}

/// The settings of a virtual table that is being created.
public struct VirtualTableConfiguration {
    /// True to do nothing if the table exists.
    var ifNotExists: Bool
}

extension Database {
    /// Creates a virtual table of a module that needs no arguments. <https://www.sqlite.org/lang_createvtab.html>
    public func create(virtualTable name: String, options: VirtualTableOptions = [], using module: String) throws {
        try execute(sql: "\(Self.createVirtualTable(name, options)) USING \(module)")
    }

    /// Creates a virtual table, with its option as an argument.
    @_disfavoredOverload
    public func create(virtualTable name: String, ifNotExists: Bool = false, using module: String) throws {
        try create(virtualTable: name, options: ifNotExists ? .ifNotExists : [], using: module)
    }

    /// Creates a virtual table as `body` defines it. The additions of the module are in the same transaction.
    public func create<Module: VirtualTableModule>(
        virtualTable tableName: String, options: VirtualTableOptions = [], using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        let configuration = VirtualTableConfiguration(ifNotExists: options.contains(.ifNotExists))
        let definition = module.makeTableDefinition(configuration: configuration)
        try body?(definition)
        let arguments = try module.moduleArguments(for: definition, in: self).joined(separator: ", ")
        try inSavepoint {
            try create(
                virtualTable: tableName, options: options,
                using: module.moduleName + (arguments.isEmpty ? "" : "(\(arguments))"))
            try module.database(self, didCreate: tableName, using: definition)
            return .commit
        }
    }

    /// Creates a virtual table, with its option as an argument.
    @_disfavoredOverload
    public func create<Module: VirtualTableModule>(
        virtualTable tableName: String, ifNotExists: Bool = false, using module: Module,
        _ body: ((Module.TableDefinition) throws -> Void)? = nil
    ) throws {
        try create(virtualTable: tableName, options: ifNotExists ? .ifNotExists : [], using: module, body)
    }

    private static func createVirtualTable(_ name: String, _ options: VirtualTableOptions) -> String {
        // CREATE VIRTUAL TABLE does not have TEMPORARY: the schema name is used instead.
        var sql = "CREATE VIRTUAL TABLE "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        if options.contains(.temporary) { sql += "temp." }
        return sql + name.quotedDatabaseIdentifier
    }
}
