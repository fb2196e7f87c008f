/// The columns that relate one table to another, for associations without a single foreign key in the schema.
///
/// ```swift
/// static let author = belongsTo(Person.self, key: "author", using: ForeignKey(["authorId"]))
/// ```
public struct ForeignKey: Equatable, Sendable {
    let originColumns: [String]
    let destinationColumns: [String]?

    /// - parameters:
    ///     - originColumns: the columns that refer.
    ///     - destinationColumns: the columns that they refer to; nil for what the schema says, or the primary key.
    public init(_ originColumns: [String], to destinationColumns: [String]? = nil) {
        self.originColumns = originColumns
        self.destinationColumns = destinationColumns
    }

    /// - parameters:
    ///     - originColumns: the columns that refer.
    ///     - destinationColumns: the columns that they refer to; nil for what the schema says, or the primary key.
    public init(_ originColumns: [any ColumnExpression], to destinationColumns: [any ColumnExpression]? = nil) {
        self.init(originColumns.map(\.name), to: destinationColumns?.map(\.name))
    }
}

/// A foreign key between two tables, which may be looked up in the schema.
struct ForeignKeyLookup: Equatable, Sendable {
    let referringTable: String
    let referredTable: String
    let foreignKey: ForeignKey?

    /// Returns the columns that refer, each with the one that it refers to.
    ///
    /// - throws: `SQLITE_MISUSE` when the schema has none, or several.
    func mapping(_ db: Database) throws -> [(referring: String, referred: String)] {
        if let foreignKey, let columns = foreignKey.destinationColumns {
            return try pairs(foreignKey.originColumns, columns)
        }
        guard let foreignKey else {
            let known = try knownKeys(db)
            guard known.count == 1 else { throw undecided(known.count) }
            return known[0].mapping.map { ($0.origin, $0.destination) }
        }
        let wanted = Set(foreignKey.originColumns.map(\.foldedSQLName))
        // A view has no foreign keys.
        if let known = try? knownKeys(db).first(where: { Set($0.originColumns.map(\.foldedSQLName)) == wanted }) {
            return known.mapping.map { ($0.origin, $0.destination) }
        }
        return try pairs(foreignKey.originColumns, db.primaryKey(referredTable).columns)
    }

    private func knownKeys(_ db: Database) throws -> [ForeignKeyInfo] {
        try db.foreignKeys(on: referringTable).filter {
            $0.destinationTable.foldedSQLName == referredTable.foldedSQLName
        }
    }

    private func pairs(_ referring: [String], _ referred: [String]) throws -> [(referring: String, referred: String)] {
        guard referring.count == referred.count, !referring.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    a foreign key of table \(referringTable) refers with \(referring.count) columns to \
                    \(referred.count) of \(referredTable): name both, as in ForeignKey(["…"], to: ["…"])
                    """)
        }
        return Array(zip(referring, referred)).map { (referring: $0, referred: $1) }
    }

    private func undecided(_ count: Int) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: """
                table \(referringTable) has \(count == 0 ? "no foreign key" : "\(count) foreign keys") to \
                \(referredTable): name one with using: ForeignKey(["…"])
                """)
    }
}
