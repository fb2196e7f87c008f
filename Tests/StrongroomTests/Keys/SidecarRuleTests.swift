import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The rules for every file beside a database.
@Suite("A sidecar")
struct SidecarRuleTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    func file(_ role: SaltFile.Role) -> String { SaltFile.path(role, of: path) }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    // MARK: - Owner and mode

    @Test("has the mode of the database", arguments: SaltFile.Role.allCases, [0o600, 0o640, 0o644, 0o660])
    func mode(_ role: SaltFile.Role, _ mode: Int) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        try SaltFile(salt: .random(), header: 32).write(role, of: path)
        #expect(try FileManager.default.attributesOfItem(atPath: file(role))[.posixPermissions] as? Int == mode)
    }

    @Test("of another user's database is that user's, also after root changed it", .enabled(if: geteuid() == 0))
    func owner() async throws {
        let encryption = Encryption(key: try .rawKey(Data(repeating: 1, count: 32)), plaintextHeader: PlaintextHeader())
        try SidecarDatabase.create(path, encryption)
        for name in ["", "/db.sqlite", "/db.sqlite-salt"] { #expect(chown(folder.path + name, 65534, 65534) == 0) }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        try rotateAsRoot(encryption)
        await #expect(processExitsWith: .success) { [path = path as String] in
            guard setgid(65534) == 0, setuid(65534) == 0 else { exit(3) }
            let encryption = Encryption(
                key: try .rawKey(Data(repeating: 2, count: 32)), plaintextHeader: PlaintextHeader())
            guard try SidecarDatabase.read(path, encryption) == 7 else { exit(4) }
        }
    }

    private func rotateAsRoot(_ encryption: Encryption) throws {
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration), next = file(.rotation)
        try queue.write { db in
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(4000))") }
        }
        try queue.rotateKey(to: .rawKey(Data(repeating: 2, count: 32))) { progress in
            guard !progress.isCompleted else { return }
            let attributes = try FileManager.default.attributesOfItem(atPath: next)
            #expect(attributes[.ownerAccountID] as? Int == 65534 && attributes[.groupOwnerAccountID] as? Int == 65534)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        try queue.close()
    }

    @Test("that this user may not read says so, and stays as it is", .enabled(if: geteuid() == 0))
    func unreadable() throws {
        try SidecarDatabase.create(path, .plaintext)
        #expect(
            chown(folder.path, 65534, 65534) == 0 && chown(path, 65534, 65534) == 0 && chmod(file(.permanent), 0) == 0)
        try #require(strongroom_faults_use_files_as(65534))
        defer { _ = strongroom_faults_use_files_as(0) }
        let error = #expect(throws: DatabaseError.self) { try SidecarDatabase.read(path, .plaintext) }
        #expect(error?.reason == .unfitSaltFile && error?.message?.contains("Permission denied") == true)
        #expect(strongroom_faults_use_files_as(0))
        #expect(try SidecarDatabase.read(path, .plaintext) == 7)
    }

    @Test("that this user may not write keeps the key from changing, before anything has", .enabled(if: geteuid() == 0))
    func unwritable() throws {
        try SidecarDatabase.create(path, .plaintext)
        #expect(
            chown(folder.path, 65534, 65534) == 0 && chown(path, 65534, 65534) == 0
                && chmod(file(.permanent), 0o644) == 0)
        try #require(strongroom_faults_use_files_as(65534))
        defer { _ = strongroom_faults_use_files_as(0) }
        var configuration = Configuration()
        configuration.encryption = .plaintext
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let error = #expect(throws: DatabaseError.self) {
            try queue.rotateKey(to: .rawKey(Data(repeating: 2, count: 32)))
        }
        #expect(error?.reason == .unfitSaltFile && error?.message?.contains("can't write") == true)
        try queue.close()
        #expect(try names() == ["db.sqlite", "db.sqlite-salt"])
        let wider = #expect(throws: DatabaseError.self) {
            try DatabaseFile.setPlaintextHeader(PlaintextHeader(size: 64), path: path, encryption: .plaintext)
        }
        #expect(wider?.reason == .unfitSaltFile)
        #expect(try names() == ["db.sqlite", "db.sqlite-salt"])
        #expect(try SidecarDatabase.read(path, .plaintext) == 7)
    }

    @Test(
        "that this user may not write leaves a pending change to other users, and opens", .enabled(if: geteuid() == 0))
    func pendingForOthers() throws {
        try SidecarDatabase.create(path, .plaintext)
        let new = Encryption(key: try .rawKey(Data(repeating: 2, count: 32)), plaintextHeader: PlaintextHeader())
        var configuration = Configuration()
        configuration.encryption = .plaintext
        configuration.busyMode = .immediateError
        let queue = try DatabasePool(path: path, configuration: configuration)
        let other = try DatabasePool(path: path, configuration: configuration), snapshot = try other.makeSnapshot()
        #expect(try queue.rotateKey(to: new.key) == .formerKeyRemains)
        // The snapshot keeps the pages of the former key until its process is gone, with all that it would finish.
        try withExtendedLifetime((snapshot, other)) {
            for name in ["", "-wal", "-shm", "-salt-next"] { #expect(chown(path + name, 65534, 65534) == 0) }
            #expect(chown(folder.path, 65534, 65534) == 0 && chmod(file(.permanent), 0o644) == 0)
            try snapshot.close()
            try other.close()
            try #require(strongroom_faults_use_files_as(65534))
            defer { _ = strongroom_faults_use_files_as(0) }
            #expect(try SidecarDatabase.read(path, new) == 7)
        }
        try queue.close()
        #expect(try SidecarDatabase.read(path, new) == 7)
        #expect(try names() == ["db.sqlite", "db.sqlite-salt"])
    }
}
