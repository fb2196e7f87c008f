import Strongroom

/// One access to a new encrypted database, for tests that need no more than a connection.
func withDatabase<T>(_ body: (Database) throws -> T) throws -> T {
    try withEncryptedQueue { try $0.writeWithoutTransaction(body) }
}
