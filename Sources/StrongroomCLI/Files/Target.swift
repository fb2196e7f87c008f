import Foundation
import Strongroom

/// An existing database that a command works on.
struct Target: Sendable {
    let place: Place
    let inspection: DatabaseFile.Inspection
    private(set) var settings: CipherSettings
    private let header: PlaintextHeader?
    private let format: FormatOptions?

    /// The name as it was given.
    var name: String { place.name }

    /// Inspects the file without a key. Fails if there is no file.
    init(_ name: String, _ format: FormatOptions? = nil) throws {
        place = try Place(name)
        guard let identity = FileIdentity(place.path) else {
            throw Failure(
                errno: errno, file: name, "it cannot be inspected",
                remedy: "Check the permissions of the folders that it is in")
        }
        guard identity.isRegular else { throw Failure.notFile(name) }
        self.format = format
        inspection = try attributing(to: name) { [path = place.path] in try DatabaseFile.inspect(path: path) }
        settings = format?.settings(of: inspection) ?? .sqlcipher4
        header = try format?.header()
        try requireSlot(named: format?.keyHint)
        if header != nil, inspection.kind == .encrypted { throw Failure(reason: .missingPlaintextHeader, file: name)! }
    }

    /// Refuses the name of a slot to try first if the database has slots, and none with that name.
    private func requireSlot(named hint: String?) throws {
        let slots = inspection.keySlots
        guard let hint, !slots.isEmpty, !inspection.isRotationPending,
            !slots.contains(where: { $0.id == hint || $0.label == hint })
        else { return }
        let names = slots.map { "\($0.id) (\($0.label))" }.joined(separator: ", ")
        throw Failure(
            .usage, file: name, "no key slot has the name \(hint); nothing was changed",
            remedy: "Give one of these as --key-hint, or leave it out: \(names)")
    }

    var isClear: Bool { inspection.kind == .clear }

    func requireClear() throws {
        try requireDatabase()
        guard isClear else {
            throw Failure(
                .other, file: name, "it is encrypted already, or not a database; nothing was changed",
                remedy: "Give an unencrypted database, or change the key with: strongroom rotate")
        }
    }

    func requireEncrypted() throws {
        try requireDatabase()
        if isClear { throw Failure(reason: .notEncrypted, file: name)! }
    }

    /// Refuses files that no passphrase opens, before one is asked for.
    func requireDatabase() throws {
        switch inspection.kind {
        case .absent: throw Failure.absent(name)
        case .empty: throw Failure(.other, file: name, "it is empty; nothing was changed", remedy: "Check the path")
        case .notDatabase: throw Failure(reason: .notDatabase, file: name)!
        case .clear, .encrypted, .plaintextHeader: break
        }
    }

    func encryption(_ key: DatabaseKey) -> Encryption {
        var encryption = Encryption(key: key, settings: settings, plaintextHeader: header)
        encryption.keySlots.preferred = format?.keyHint
        return encryption
    }
}

// MARK: - Opening

extension Target {
    /// Runs `body` on a connection that only reads, with `secret` or without a key. No file changes.
    ///
    /// - parameter isShort: false if the work may take long while other programs write.
    /// - parameter interruption: stops the work. Default: a signal.
    func reading<T>(
        _ secret: GivenSecret?, isShort: Bool = true, _ interruption: Interruption? = nil,
        _ body: (Database) throws -> T
    ) throws -> T {
        try attributing(to: name, opening: secret) {
            let opening = try secret.map { try encryption($0.key) }
            return try Interruption.deferred(unless: interruption) { interruption in
                try DatabaseFile.reading(
                    path: place.path, encryption: opening, isShort: isShort, stop: interruption.check, body)
            }
        }
    }

    func details(_ secret: GivenSecret?) throws -> DatabaseFile.Details {
        try attributing(to: name, opening: secret) {
            try DatabaseFile.details(path: place.path, encryption: secret.map { encryption(try $0.key) })
        }
    }

    /// Returns the details of the database and the key of a store that opens it.
    func details(in store: FileKeyStore) throws -> (DatabaseFile.Details, StoredKey?) {
        try attributing(to: name) {
            try DatabaseFile.reading(path: place.path, encryption: encryption(.managed(by: store))) {
                (try $0.details(), $0.storedKey)
            }
        }
    }

    /// Opens the database for writing.
    func queue(_ key: DatabaseKey?, _ configure: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.busyMode = .timeout(2)
        configuration.encryption = key.map(encryption)
        configure(&configuration)
        return try attributing(to: name) { try DatabaseQueue(path: place.path, configuration: configuration) }
    }

    /// Opens the database for writing while `body` runs. A signal stops it, unless `body` watches for signals itself.
    func writing<T>(
        _ secret: GivenSecret?, _ interruption: Interruption? = nil, watchesItself: Bool = false,
        _ body: (DatabaseQueue) throws -> T
    ) throws -> T {
        try attributing(to: name, opening: secret) {
            let queue = try self.queue(secret?.key) { $0.allowsUnsafeTransactions = true }
            do {
                let result = try Interruption.deferred(unless: interruption) { interruption in
                    try watchesItself ? body(queue) : interruption.interrupting(queue) { try body(queue) }
                }
                try queue.close()
                return result
            } catch {
                // After a write that met a full disk, SQLite rolls the journal back with the next read.
                _ = try? queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
                throw error
            }
        }
    }

    /// Returns the target in the format that the database turns out to have, unless an option states the format.
    func recognized(_ secret: GivenSecret) throws -> Target {
        do {
            _ = try DatabaseFile.details(path: place.path, encryption: encryption(secret.key))
            return self
        } catch let error as DatabaseError {
            guard let format, format.sqlcipherVersion == nil, let version = error.formatVersion else {
                throw Failure(error, file: name).naming(isRawKey: secret.isUsedAsKey)
            }
            var target = self
            target.settings = format.settings(ofVersion: version)
            return target
        }
    }
}
