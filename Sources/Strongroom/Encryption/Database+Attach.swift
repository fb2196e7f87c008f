import CStrongroom
import Foundation

extension Database {
    /// Attaches another database, with a key of its own, or in clear text for nil. `DETACH DATABASE` ends it.
    ///
    /// In SQL, `ATTACH` would take the key of the main database, and its salt, which doesn't open a file with the same passphrase and
    /// a salt of its own. Here the key stays out of SQL, too. <https://www.sqlite.org/lang_attach.html>
    ///
    /// - throws: what opening that database would throw.
    public func attach(path: String, as schemaName: String, encryption: Encryption?) throws {
        requireAccess()
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.readonly = self.configuration.readonly
        configuration.busyMode = self.configuration.busyMode
        let other = try Database(path: path, description: description + ".attachment", configuration: configuration)
        try other.withSoleAccess { other in
            try other.setUp()
            try execute(sql: "ATTACH DATABASE ? AS \"\(schemaName.replacingOccurrences(of: "\"", with: "\"\""))\" KEY ''", arguments: [other.filePath])
            if let derived = other.cipher.derived { try attach(derived, header: other.cipher.header, schema: schemaName) }
        }
    }
}
