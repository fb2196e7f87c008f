#if Macros
/// Writes the code of a record: its columns, `init(row:)` by position, `encode(to:)` and its table.
///
/// ```swift
/// @DatabaseRecord
/// struct Player {
///     var id: Int64?
///     var name: String
///     @DatabaseColumn("joined_at", dates: .iso8601) var joined: Date
///     @DatabaseColumn(json: true) var tags: [String]
///     @DatabaseColumn(prefix: "address_") var address: Address
///     var score = 0
/// }
/// ```
///
/// Each stored property is a column of its name. `Player.Columns` lists them. A structure whose `id` is an optional
/// `Int64` is a ``MutablePersistableRecord`` that takes over the id of an inserted row. Others are
/// ``PersistableRecord``. A property with a default value keeps it where a row doesn't have the column.
///
/// - parameter table: the name of the table. Default: as for ``TableRecord``.
@attached(
    extension, conformances: GeneratedRecord, FetchableRecord, PersistableRecord, MutablePersistableRecord,
    names: named(Columns), named(databaseColumns), named(databaseTableName), named(databaseSelection),
    named(init(row:)), named(init(columns:)), named(encode(to:)), named(encode(to:prefix:)), named(didInsert(_:)))
@attached(member, names: named(init(row:)), named(init(columns:)))
public macro DatabaseRecord(table: String? = nil) =
    #externalMacro(module: "StrongroomMacros", type: "DatabaseRecordMacro")

/// Says how a property of a `@DatabaseRecord` is stored.
///
/// - parameters:
///   - name: the name of the column. Default: that of the property.
///   - primaryKey: true for an `Int64?` that takes over the id of an inserted row. Default: true for `id`.
///   - dates: the strategy that stores a date. Default: as text, `YYYY-MM-DD HH:MM:SS.SSS` in UTC.
///   - json: true for a value that is stored as JSON. Default: false.
///   - prefix: for a property that is a generated record: the columns of that record become columns of this one, with
///     the prefix in front of their names. Default: none.
@attached(peer)
public macro DatabaseColumn(
    _ name: String? = nil, primaryKey: Bool? = nil, dates: DatabaseDateEncodingStrategy = .deferredToDate,
    json: Bool = false, prefix: String? = nil
) = #externalMacro(module: "StrongroomMacros", type: "DatabaseColumnMacro")

/// Excludes a property of a `@DatabaseRecord` from its columns. The property needs a default value.
@attached(peer)
public macro NoDatabaseColumn() = #externalMacro(module: "StrongroomMacros", type: "DatabaseColumnMacro")
#endif
