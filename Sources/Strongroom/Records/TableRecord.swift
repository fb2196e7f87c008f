import Foundation

/// A type that represents a table of the database.
///
/// ```swift
/// struct Player: TableRecord {
///     enum Columns {
///         static let name = Column("name")
///     }
/// }
///
/// let count = try Player.filter { $0.name != nil }.fetchCount(db)
/// ```
public protocol TableRecord: SendableMetatype {
    /// The type that lists the columns, if any.
    associatedtype Columns = Never

    /// The type of the argument of closures in requests.
    associatedtype DatabaseComponents = Self.Columns.Type

    /// The name of the table. Default: the name of the type, its first letters in lowercase: `Player` is `player`,
    /// `HTTPRequest` is `httpRequest`.
    static var databaseTableName: String { get }

    /// The columns that requests select. Default: all columns, `*`.
    ///
    /// Declare it as a computed property, because some selections are not sendable.
    static var databaseSelection: [any SQLSelectable] { get }

    /// The argument of closures in requests. Default: the `Columns` type.
    static var databaseComponents: DatabaseComponents { get }
}

extension TableRecord {
    /// The name of the type, its first letters in lowercase.
    public static var databaseTableName: String { TableNames.name(of: Self.self) }

    /// All columns.
    public static var databaseSelection: [any SQLSelectable] { [AllColumns()] }
}

extension TableRecord where DatabaseComponents == Columns.Type {
    /// The `Columns` type.
    public static var databaseComponents: Columns.Type { Columns.self }
}

/// `SendableMetatype`, under its name for programs before Swift 6.2.
public typealias GRDBSendableMetatype = SendableMetatype

/// The default names of tables, computed once for each type, because that takes longer than an insertion.
private enum TableNames {
    private static let names = Mutex<[ObjectIdentifier: String]>([:])

    static func name(of type: Any.Type) -> String {
        names.withLock { names in
            if let name = names[ObjectIdentifier(type)] { return name }
            let name = defaultName(String(describing: type))
            names[ObjectIdentifier(type)] = name
            return name
        }
    }

    /// `Player`, `HTTPRequest`, `TOEFL`, `Box<Int>` become `player`, `httpRequest`, `toefl`, `box`.
    static func defaultName(_ typeName: String) -> String {
        let name = typeName.prefix { $0 != "<" }
        let capitals = name.prefix { $0.isUppercase }
        if capitals.isEmpty { return name.lowercased() }
        // The last of several capitals begins the next word.
        let isAcronym = capitals.count > 1 && capitals.count < name.count
        let head = isAcronym ? capitals.dropLast() : capitals
        return head.lowercased() + name.dropFirst(head.count)
    }
}
