// Connections that verify what this library has written, and the access that they need.

extension Database {
    /// Opens the database as its user will: from its files alone, by a connection that shares nothing with this one.
    ///
    /// - parameter keys: derived keys. One of them is used if the files have its salt. Default: none.
    func requireOpening(
        _ encryption: Encryption, _ keys: Keyring = Keyring(), _ body: (Database) throws -> Void = { _ in }
    ) throws {
        var configuration = Configuration().sharingKeys(keys)
        configuration.encryption = encryption
        // It does not finish pending changes.
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        configuration.observesSuspensionNotifications = self.configuration.observesSuspensionNotifications
        let fresh = try Database(
            path: filePath, description: description + ".verification", configuration: configuration)
        try fresh.withSoleAccess(isStoppable: false) { database in
            try database.explainingFailures { try database.setUpPlainly(derived: nil, header: 0) }
            try body(database)
        }
    }

    /// Runs `body` with a second connection to the same file, which has the key and not the configuration.
    func withPlainConnection<T>(
        derived: DerivedKey?, header: Int, readonly: Bool = false, _ body: (Database) throws -> T
    ) throws -> T {
        var plain = Configuration()
        plain.readonly = readonly
        plain.busyMode = .timeout(10)
        plain.observesSuspensionNotifications = configuration.observesSuspensionNotifications
        let database = try Database(path: filePath, description: description + ".verification", configuration: plain)
        return try database.withSoleAccess(isStoppable: false) { database in
            try database.setUpPlainly(derived: derived, header: header)
            return try body(database)
        }
    }

    /// Sets up a connection of the library's own.
    func setUpPlainly(derived: DerivedKey?, header: Int) throws {
        try check(authorizer.install(on: openConnection))
        try busy.install(on: self)
        defer { formatControl.releaseDefaults() }
        try keySetup.setUpEncryption()
        if let derived {
            try formatControl.holdDefaults()
            try formatControl.attach(derived, header: header)
        }
        try keySetup.takeKey()
        formatControl.endSetUp()
    }

    /// Runs `body` with access to a connection without a queue, and closes it.
    ///
    /// - parameters:
    ///   - isStoppable: false if no suspension may stop it, because it is a part of other work.
    ///   - family: the keys of the queue or pool that suspends it. Default: its own.
    func withSoleAccess<T>(
        isStoppable: Bool = true, family: Keyring? = nil, _ body: (Database) throws -> T
    ) throws -> T {
        let former = connection.enter()
        let work = SuspendedWork(self, isStoppable: isStoppable, family: family ?? configuration.keyring)
        defer {
            abandon()
            work.end()
            connection.exit(former)
        }
        return try body(self)
    }

    /// Throws if the file has several names. The log and the salt files belong to one of them: under another name the
    /// database would be incomplete.
    func requireSingleName() throws {
        let count = NamedFile.linkCount(filePath)
        guard count < 2 else {
            throw DatabaseError(
                refusing: "\(path) has \(count) names (hard links), and its log and its salt belong to one of them",
                advice: "remove the other names, or give each its own copy", reason: .severalNames)
        }
    }
}
