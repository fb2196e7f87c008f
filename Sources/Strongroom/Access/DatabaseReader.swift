/// Reads a database.
public protocol DatabaseReader: AnyObject, Sendable {
    var configuration: Configuration { get }

    /// The path of the database file.
    var path: String { get }

    /// Closes the database; further accesses throw `SQLITE_MISUSE`.
    ///
    /// - throws: `SQLITE_BUSY` when statements are alive; the database stays open.
    func close() throws

    /// Interrupts what the connections do at this moment: it throws `SQLITE_INTERRUPT`.
    ///
    /// <https://www.sqlite.org/c3ref/interrupt.html>
    func interrupt()

    /// Runs `value` in a transaction where it sees one state of the database, and can't write.
    ///
    /// Blocks until `value` has run. Not reentrant.
    func read<T>(_ value: (Database) throws -> T) throws -> T
}

/// Reads and writes a database.
public protocol DatabaseWriter: DatabaseReader {
    /// Runs `updates` outside of any transaction, alone.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    func writeWithoutTransaction<T>(_ updates: (Database) throws -> T) rethrows -> T
}

extension DatabaseWriter {
    /// Runs `updates` in a transaction: committed at the end, rolled back when they throw.
    ///
    /// Blocks until `updates` has run. Not reentrant.
    public func write<T>(_ updates: (Database) throws -> T) throws -> T {
        try writeWithoutTransaction { try $0.committing(updates) }
    }
}
