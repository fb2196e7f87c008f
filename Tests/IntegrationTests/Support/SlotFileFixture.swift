import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The states of a database to which key slots belong, in the words of the table.
enum SlotDatabaseState: String, CaseIterable, Sendable {
    case absent, withoutSlots = "without slots", withSlots = "with slots", renewalPending = "renewal pending"

    /// The files of a database in this state. Each is made once.
    fileprivate static let models = Result {
        try Dictionary(uniqueKeysWithValues: allCases.map { ($0, try SlotFileModel($0)) })
    }
}

/// The files of a database, which fixtures copy.
private struct SlotFileModel: Sendable {
    private(set) var files: [String: Data] = [:]
    /// The slot file from before the latest renewal of the data key.
    var former: Data?
    /// The slot file of a database that isn't here.
    let foreign: Data

    init(_ state: SlotDatabaseState) throws {
        let away = try TemporaryFolder(), path = away.path("db.sqlite")
        try Self.create(away.path("foreign"), hasSlots: true)
        foreign = try away.bytes("foreign-keys")
        switch state {
        case .absent: break
        case .withoutSlots:
            try Self.create(path, hasSlots: false)
            try copy(away)
        case .withSlots, .renewalPending:
            try Self.create(path, hasSlots: true)
            former = try away.bytes("db.sqlite-keys")
            let queue = try SlotFileFixture.open(path)
            try queue.rotateKey(.keeping([.passphrase(SlotFileFixture.passphrase)]))
            if state == .renewalPending { try Self.renew(queue, path) { try copy(away) } }
            try queue.close()
            if state == .withSlots { try copy(away) }
        }
    }

    private static func create(_ path: String, hasSlots: Bool) throws {
        let queue = try SlotFileFixture.open(path, creatingSlots: hasSlots)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
    }

    /// As a process leaves it that is killed after the commit of a renewal: the new pages are in the log.
    private static func renew(_ queue: DatabaseQueue, _ path: String, meanwhile body: () throws -> Void) throws {
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") }
        let reader = try SlotFileFixture.open(path)
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN; SELECT a FROM t")
            try queue.rotateKey(.keeping([.passphrase(SlotFileFixture.passphrase)]))
            try body()
            try db.execute(sql: "ROLLBACK")
        }
        try? reader.close()
    }

    private mutating func copy(_ away: TemporaryFolder) throws {
        for name in try away.names() where name.hasPrefix("db.sqlite") && !name.hasSuffix("-shm") {
            files[name] = try away.bytes(name)
        }
    }
}

/// A database in one of its states, with a file of key slots in one of its own.
struct SlotFileFixture {
    let scratch: TemporaryFolder
    let role: SlotFiles.Role
    let sidecar: SidecarState
    let database: SlotDatabaseState

    static let passphrase = "right", newPassphrase = "new"

    var path: String { scratch.path("db.sqlite") }
    private var file: String { path + role.rawValue }

    /// Root reads everything: an unreadable file has to be another user's, and so has the process that tries.
    var isOfAnotherUser: Bool { sidecar == .unreadable && geteuid() == 0 }

    init(_ role: SlotFiles.Role, _ sidecar: SidecarState, _ database: SlotDatabaseState) throws {
        scratch = try TemporaryFolder()
        (self.role, self.sidecar, self.database) = (role, sidecar, database)
        let model = try SlotDatabaseState.models.get()[database]!
        for (name, bytes) in model.files { try scratch.write(bytes, to: name) }
        try makeSidecar(model)
        guard isOfAnotherUser else { return }
        for name in try scratch.names() + [""] where !file.hasSuffix("/" + name) { try giveAway(scratch.path(name)) }
    }

    private func makeSidecar(_ model: SlotFileModel) throws {
        let own = try? Data(contentsOf: URL(fileURLWithPath: file))
        if sidecar == .valid, own != nil { return }
        let current = try? Data(contentsOf: URL(fileURLWithPath: path + "-keys"))
        try? FileManager.default.removeItem(atPath: file)
        switch sidecar {
        case .absent: break
        case .valid where role == .scratch: try write(current ?? model.foreign)
        case .stale: try write((role == .rotation ? current : model.former) ?? model.foreign)
        case .valid, .foreign: try write(model.foreign)
        case .empty: try write(Data())
        case .unreadable:
            try write(own ?? current ?? model.foreign)
            try #require(chmod(file, 0) == 0)
        case .notAFile: try #require(mkfifo(file, 0o600) == 0)
        }
    }

    private func write(_ text: Data) throws { try text.write(to: URL(fileURLWithPath: file)) }

    func giveAway(_ path: String) throws {
        try #require(chown(path, SidecarFixture.user, SidecarFixture.user) == 0)
    }

    static func open(
        _ path: String, _ passphrase: String = Self.passphrase, creatingSlots: Bool = false
    ) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(passphrase))
        configuration.allowsUnsafeTransactions = true
        if creatingSlots {
            configuration.encryption?.keySlots.creating = NewKeySlot(
                label: "slot", derivation: .scrypt(logN: 14, r: 8, p: 1))
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    // MARK: - What is done

    func opening() throws -> String {
        try outcome("opens") { try requireOpening(Self.passphrase) }
    }

    /// By opening what isn't there, or by copying to the name of what is.
    func creating() throws -> String {
        try outcome("creates") {
            guard database != .absent else {
                try Self.open(path, creatingSlots: true).close()
                return try requireOpening(Self.passphrase)
            }
            let source = scratch.path("source")
            try DatabaseQueue(path: source).write { try $0.execute(sql: "CREATE TABLE t(a)") }
            try DatabaseFile.encrypt(path: source, to: path, encryption: Encryption(key: .passphrase(Self.passphrase)))
        }
    }

    func changing() throws -> String {
        try outcome("changes") {
            let queue = try Self.open(path)
            try queue.keySlots().change("slot", to: .passphrase(Self.newPassphrase))
            try queue.close()
            try requireOpening(Self.newPassphrase)
        }
    }

    private func requireOpening(_ passphrase: String) throws {
        let queue = try Self.open(path, passphrase)
        #expect(try queue.read { try $0.tableExists("t") } || database == .absent)
        try queue.close()
    }

    /// Returns the outcome in the words of the table. Where nothing succeeds, the slot file stays as it is; what can't
    /// be read stays in any case.
    private func outcome(_ success: String, _ body: () throws -> Void) throws -> String {
        let keys = try? Data(contentsOf: URL(fileURLWithPath: path + "-keys")), bytes = Data.ofSidecar(file)
        if isOfAnotherUser { try #require(strongroom_faults_use_files_as(SidecarFixture.user)) }
        let result = Result(catching: body)
        if isOfAnotherUser { try #require(strongroom_faults_use_files_as(0)) }
        if sidecar == .notAFile || sidecar == .unreadable {
            #expect(Data.ofSidecar(file) == bytes, "what can't be read stays")
        }
        switch result {
        case .success: return success
        case .failure(let error as DatabaseError):
            if database != .renewalPending {
                #expect((try? Data(contentsOf: URL(fileURLWithPath: path + "-keys"))) == keys)
            }
            return Self.words(error)
        case .failure(let error): throw error
        }
    }

    private static func words(_ error: DatabaseError) -> String {
        if error.isWrongKeyError { return "wrong key" }
        switch (error.reason, error.resultCode) {
        case (.damagedSlotFile, _): return "damaged"
        case (.foreignSlotFile, _): return "foreign"
        case (.unfitKeySlots, _): return "no slots"
        case (.unfitSlotFile, .SQLITE_CANTOPEN): return "not a file"
        case (.unfitSlotFile, _): return "unreadable"
        case (.checkpointPending, _): return "pending"
        case (.fileExists, _): return "exists"
        default: return "\(error)"
        }
    }
}
