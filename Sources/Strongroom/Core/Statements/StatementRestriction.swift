/// The restriction of the statements of an access: a layer above the core decides on what each of them reads.
protocol StatementRestriction: AnyObject {
    /// The number of the restricted access, which no other one of the process has. Never zero.
    var number: Int { get }

    /// The maximum number of rows of a statement.
    var maximumRowCount: Int { get }

    /// Refuses a statement by its text, before SQLite sees it.
    func willCompile(_ sql: UnsafeBufferPointer<UInt8>) throws

    /// Decides on a report of SQLite's compiler.
    func verdict(on report: CompilerReport) -> RestrictionVerdict

    /// Returns the error of a statement that has more rows than are allowed.
    func rowOverrun(of sql: String) -> DatabaseError
}

/// A report of SQLite's compiler to the authorizer. <https://www.sqlite.org/c3ref/c_alter_table.html>
struct CompilerReport {
    let action: CInt
    let first: String?
    let second: String?
    let schema: String?

    /// The innermost view or common table expression.
    let source: String?

    /// False for SQL that a virtual table or the library compiles while a statement runs.
    let isOfProgram: Bool
}

enum RestrictionVerdict {
    case allowed
    /// Allowed because the owner of the database has defined a view that reads it.
    case allowedToOwner
    case refused(DatabaseError)
}

extension Database {
    /// Runs the library's own SQL, which a restriction does not concern.
    func unrestricted<T>(_ body: () throws -> T) rethrows -> T {
        guard let restriction = authorizer.restriction else { return try body() }
        authorizer.restriction = nil
        defer { authorizer.restriction = restriction }
        return try body()
    }
}
