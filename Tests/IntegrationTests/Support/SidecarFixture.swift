import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The files beside a database, in the words of the table.
enum SidecarState: String, CaseIterable, Sendable {
    case absent, valid, stale, foreign, empty, unreadable, notAFile = "not a file"
}

/// The states of a database, in the words of the table.
enum DatabaseState: String, CaseIterable, Sendable {
    case absent, empty, encrypted, plaintextHeader = "plaintext header", rotationPending = "rotation pending"

    var exists: Bool { self != .absent && self != .empty }
}

/// A database in one of its states, with a sidecar in one of its own.
struct SidecarFixture {
    let scratch: TemporaryFolder
    let role: SaltFile.Role
    let sidecar: SidecarState
    let database: DatabaseState

    static let key = Data(repeating: 1, count: 32), newKey = Data(repeating: 2, count: 32)
    private static let formerKey = Data(repeating: 3, count: 32)

    /// The owner of files that only root can read.
    static let user: UInt32 = 65534

    var path: String { scratch.path("db.sqlite") }
    private var file: String { SaltFile.path(role, of: path) }

    init(_ role: SaltFile.Role, _ sidecar: SidecarState, _ database: DatabaseState) throws {
        scratch = try TemporaryFolder()
        (self.role, self.sidecar, self.database) = (role, sidecar, database)
        try makeDatabase()
        try makeSidecar()
        if isOfAnotherUser { try giveAway() }
    }

    /// Root reads everything: an unreadable file has to be another user's, and so has the process that tries.
    var isOfAnotherUser: Bool { sidecar == .unreadable && geteuid() == 0 }

    // MARK: - The database

    private func makeDatabase() throws {
        switch database {
        case .absent: break
        case .empty: try Data().write(to: URL(fileURLWithPath: path))
        case .encrypted: try Self.create(path, header: nil, key: Self.key)
        case .plaintextHeader:
            try Self.create(path, header: PlaintextHeader(), key: Self.formerKey)
            let queue = try Self.open(path, header: nil, key: Self.formerKey)
            try queue.rotateKey(to: .rawKey(Self.key))
            try queue.close()
        case .rotationPending: try makePendingRotation()
        }
    }

    /// As a process leaves it that is killed after the commit of a rotation: the new pages are in the log.
    private func makePendingRotation() throws {
        let away = try TemporaryFolder(), path = away.path("db.sqlite")
        try Self.create(path, header: PlaintextHeader(), key: Self.formerKey)
        let queue = try Self.open(path, header: nil, key: Self.formerKey)
        let reader = try Self.open(path, header: nil, key: Self.formerKey)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") }
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN; SELECT a FROM t")
            try queue.rotateKey(to: .rawKey(Self.key))
            for name in try away.names() where !name.hasSuffix("-shm") {
                try FileManager.default.copyItem(atPath: away.path(name), toPath: scratch.path(name))
            }
            try db.execute(sql: "ROLLBACK")
        }
        try? reader.close()
        try queue.close()
    }

    private static func create(_ path: String, header: PlaintextHeader?, key: Data) throws {
        let queue = try open(path, header: header, key: key)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
    }

    private static func open(_ path: String, header: PlaintextHeader?, key: Data) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey(key), plaintextHeader: header)
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    // MARK: - The sidecar

    private func makeSidecar() throws {
        let own = try SaltFile.readAll(role, of: path)
        if sidecar != .valid || own.isEmpty { try? FileManager.default.removeItem(atPath: file) }
        switch sidecar {
        case .absent: break
        case .valid where !own.isEmpty: break
        case .valid: try (role == .creation ? agreement : SaltFile(salt: .random(), header: 32)).write(role, of: path)
        case .stale: try stale(own).write(role, of: path)
        case .foreign: try SaltFile(salt: .random(), header: 32).write(role, of: path)
        case .empty: try Data().write(to: URL(fileURLWithPath: file))
        case .unreadable:
            try (own.first ?? agreement).write(role, of: path)
            try #require(chmod(file, 0) == 0)
        case .notAFile: try #require(mkfifo(file, 0o600) == 0)
        }
    }

    /// The salt that connections have agreed on that created the database, or are about to.
    private var agreement: SaltFile {
        get throws { try SaltFile(salt: saltInUse ?? .random(), header: database == .encrypted ? 0 : 32) }
    }

    private var saltInUse: Salt? {
        get throws { try DatabaseFile.inspect(path: path).salt.map { try Salt($0) } }
    }

    /// The salt from before the latest rotation, or one that is no longer needed.
    private func stale(_ own: [SaltFile]) throws -> SaltFile {
        if role == .permanent, own.count > 1 { return own[1] }
        if role == .rotation, let salt = try saltInUse {
            return SaltFile(salt: salt, header: database == .encrypted ? 0 : 32)
        }
        return SaltFile(salt: try .random(), header: 32)
    }

    private func giveAway() throws {
        for name in try scratch.names() + [""] where !file.hasSuffix("/" + name) { try giveAway(scratch.path(name)) }
    }

    func giveAway(_ path: String) throws {
        try #require(chown(path, Self.user, Self.user) == 0)
    }

    // MARK: - What is done

    func opening() throws -> String {
        try outcome("opens") {
            let queue = try Self.open(path, header: nil, key: Self.key)
            let isThere = try queue.read { try $0.tableExists("t") }
            try queue.close()
            #expect(isThere == database.exists)
        }
    }

    /// By opening what isn't there, or by copying to the name of what is.
    func creating() throws -> String {
        try outcome("creates") {
            guard database.exists else {
                try Self.create(path, header: PlaintextHeader(), key: Self.key)
                return try requireOpening(Self.key)
            }
            let source = scratch.path("source")
            try DatabaseQueue(path: source).write { try $0.execute(sql: "CREATE TABLE t(a)") }
            let encryption = Encryption(key: try .rawKey(Self.key), plaintextHeader: PlaintextHeader())
            try DatabaseFile.encrypt(path: source, to: path, encryption: encryption)
        }
    }

    func rotating() throws -> String {
        try outcome("rotates") {
            let queue = try Self.open(path, header: nil, key: Self.key)
            try queue.rotateKey(to: .rawKey(Self.newKey))
            try queue.close()
            try requireOpening(Self.newKey)
        }
    }

    /// With the key alone.
    private func requireOpening(_ key: Data) throws {
        let fresh = try Self.open(path, header: nil, key: key)
        #expect(try fresh.read { try $0.tableExists("t") } || !database.exists)
        try fresh.close()
    }

    /// The outcome in the words of the table. In no outcome is a salt of a database lost.
    private func outcome(_ success: String, _ body: () throws -> Void) throws -> String {
        let before = permanentSalts, bytes = Data.ofSidecar(file)
        if isOfAnotherUser { try #require(strongroom_faults_use_files_as(Self.user)) }
        let result = Result(catching: body)
        if isOfAnotherUser { try #require(strongroom_faults_use_files_as(0)) }
        #expect(permanentSalts.isSuperset(of: before))
        if sidecar == .notAFile || sidecar == .unreadable {
            #expect(Data.ofSidecar(file) == bytes, "what can't be read stays")
        }
        switch result {
        case .success: return success
        case .failure(let error as DatabaseError): return Self.words(error)
        case .failure(let error): throw error
        }
    }

    private var permanentSalts: Set<SaltFile> { Set((try? SaltFile.readAll(.permanent, of: path)) ?? []) }

    private static func words(_ error: DatabaseError) -> String {
        if error.isWrongKeyError { return "wrong key" }
        switch (error.reason, error.resultCode) {
        case (.missingSalt, _): return "no salt"
        case (.damagedSalt, _): return "damaged"
        case (.unfitSaltFile, .SQLITE_CANTOPEN): return "not a file"
        case (.unfitSaltFile, _): return "unreadable"
        case (.fileExists, _): return "exists"
        default: return "\(error)"
        }
    }
}
