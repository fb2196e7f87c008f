import Foundation
import Strongroom

/// A note. The client chooses its id, so that it can send a request again whose answer it has not received.
public struct Note: Codable, Equatable, FetchableRecord, PersistableRecord, Sendable {
    public static let databaseTableName = "note"

    public var id: String
    public var author: String
    public var text: String

    public init(id: String, author: String, text: String) {
        self.id = id
        self.author = author
        self.text = text
    }
}

/// The database that the server and its worker share.
public enum NotesDatabase {
    public static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("notes") { db in
            try db.create(table: "note") { t in
                t.primaryKey("id", .text)
                t.column("author", .text).notNull()
                t.column("text", .text).notNull()
            }
        }
        return migrator
    }

    /// Returns the configuration with the key from the systemd credential `notes`, or from a file beside the database
    /// where there are no credentials.
    public static func configuration(path: String) -> Configuration {
        var configuration = Configuration()
        let isService = ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"] != nil
        configuration.encryption =
            isService
            ? Encryption(key: .managed(by: CredentialKeyStore(name: "notes")))
            : Encryption(key: .managed(by: FileKeyStore(path: path + ".key")))
        configuration.observesExternalChanges = true
        configuration.label = "notes"
        return configuration
    }

    public static func open(path: String, _ configuration: Configuration) throws -> DatabasePool {
        try DatabasePool.openShared(path: path, configuration: configuration, migrator: migrator)
    }
}

/// Prints a line immediately, for the process that has started this one.
public func report(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
