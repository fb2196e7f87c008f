import Foundation
import Logging

/// SQLCipher's log. SQLCipher prints it on the program's stderr, for the whole process, from the first keyed connection
/// on. This type sends it to the application's log instead, at debug level: each line is about a failure that also
/// throws an error.
enum CipherLog {
    /// The destination of log lines, as `PRAGMA cipher_log` accepts it.
    static let sink: String? = SQLiteLog.sink(forward)

    static func start() {
        _ = started
    }

    /// SQLCipher logs the first key, too, where the system refuses to lock its memory.
    private static let started: Void = {
        _ = CipherDefaults.execute("PRAGMA cipher_log = \(sink.map { "'\($0)'" } ?? "off")")
    }()
}

private func forward(_ line: UnsafePointer<CChar>?) {
    guard let line else { return }
    Logger(label: "Strongroom.SQLCipher").debug("\(String(cString: line))")
}

extension Database {
    /// The detail of SQLCipher's log. <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_log_level>
    public struct SQLCipherLogLevel: RawRepresentable, Sendable {
        /// The name of the level in the pragma.
        public var rawValue: String
        /// Creates a level from its name in the pragma.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Nothing.
        public static let none = SQLCipherLogLevel(rawValue: "NONE")
        /// Errors.
        public static let error = SQLCipherLogLevel(rawValue: "ERROR")
        /// Errors and warnings.
        public static let warn = SQLCipherLogLevel(rawValue: "WARN")
        /// Errors, warnings and notices.
        public static let info = SQLCipherLogLevel(rawValue: "INFO")
        /// Everything except the finest details.
        public static let debug = SQLCipherLogLevel(rawValue: "DEBUG")
        /// Everything.
        public static let trace = SQLCipherLogLevel(rawValue: "TRACE")
    }

    /// The destination of SQLCipher's log. <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_log>
    public struct SQLCipherLogTarget: RawRepresentable, Sendable {
        /// The destination in the pragma.
        public var rawValue: String
        /// Creates a destination from its name in the pragma.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The application's own log: swift-log, at debug level.
        public static let device = SQLCipherLogTarget(rawValue: "device")
        /// The standard error stream.
        public static let stderr = SQLCipherLogTarget(rawValue: "stderr")
        /// The standard output stream.
        public static let stdout = SQLCipherLogTarget(rawValue: "stdout")
        /// A file, to which lines are appended.
        public static func file(_ path: String) -> SQLCipherLogTarget { SQLCipherLogTarget(rawValue: path) }
    }

    /// Sets the detail and the destination of SQLCipher's log, for the whole process. Default: debug messages, into the
    /// application's own log.
    ///
    /// - throws: `SQLITE_ERROR` if SQLCipher refuses the settings.
    public func enableCipherLogging(logLevel: SQLCipherLogLevel = .debug, target: SQLCipherLogTarget = .device) throws {
        requireAccess()
        CipherLog.start()
        let place = target.rawValue == SQLCipherLogTarget.device.rawValue ? CipherLog.sink ?? "off" : target.rawValue
        try runCipherPragma("cipher_log_level = \(logLevel.rawValue)")
        try runCipherPragma("cipher_log = '\(place.replacing(ascii: "'", with: "''"))'")
    }

    /// Turns SQLCipher's log off, for the whole process.
    public func disableCipherLogging() throws {
        requireAccess()
        CipherLog.start()
        try runCipherPragma("cipher_log_level = NONE")
    }

    /// The version of SQLCipher, such as `4.6.1 community`.
    /// <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_version>
    public var cipherVersion: String {
        get throws { try cipherAnswer("cipher_version") ?? "" }
    }

    /// The cryptographic provider, such as `openssl`. Nil without a key.
    /// <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_provider>
    public var cipherProvider: String? {
        get throws { try cipherAnswer("cipher_provider") }
    }

    /// The version of the cryptographic provider. Nil without a key.
    public var cipherProviderVersion: String? {
        get throws { try cipherAnswer("cipher_provider_version") }
    }

    /// The FIPS mode of the provider: `1` if it is on, `0` if not. Nil without a key.
    public var cipherFipsStatus: String? {
        get throws { try cipherAnswer("cipher_fips_status") }
    }

    /// Activates a commercial edition of SQLCipher.
    ///
    /// - throws: `SQLITE_MISUSE` if the license is not accepted. The community edition accepts none.
    public func applySQLCipherLicense(_ license: String) throws {
        requireAccess()
        let quoted = license.replacing(ascii: "'", with: "''")
        guard let status = try answer(to: "PRAGMA cipher_license = '\(quoted)'"), status == "0" else {
            throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the SQLCipher license was not accepted")
        }
    }

    private func cipherAnswer(_ name: String) throws -> String? {
        requireAccess()
        _ = try openConnection
        return try answer(to: "PRAGMA " + name)
    }
}
