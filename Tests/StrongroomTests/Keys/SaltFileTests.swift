import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariant 2: the salt is never lost.
@Suite("A salt file")
struct SaltFileTests {
    private static let roles = SaltFile.Role.allCases

    @Test(
        "is on the disk before it has its name, and its name is before it is used",
        .enabled(if: strongroom_faults_syncs() >= 0), arguments: roles, [false, true])
    func synced(_ role: SaltFile.Role, exclusively: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        func write() throws {
            let file = SaltFile(salt: try .random(), header: 32)
            if exclusively { _ = try file.agree(role, of: path) } else { try file.write(role, of: path) }
        }
        defer { strongroom_faults_fail_syncs(-1) }
        // The first sync is that of the file, the second that of the folder.
        for passing in 0..<2 {
            strongroom_faults_fail_syncs(Int64(passing))
            let error = #expect(throws: DatabaseError.self) { try write() }
            #expect(error?.resultCode == .SQLITE_IOERR)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(files == (passing == 0 ? [] : ["db.sqlite" + role.rawValue]))
            for file in files { try FileManager.default.removeItem(atPath: folder.path(file)) }
        }
        strongroom_faults_fail_syncs(-1)
        let before = strongroom_faults_syncs()
        try write()
        #expect(strongroom_faults_syncs() - before == 2)
        // Removing is a change of the folder.
        try SaltFile.remove(role, of: path)
        #expect(strongroom_faults_syncs() - before == 3)
    }

    @Test(
        "that can't be synced keeps the database from being created", .enabled(if: strongroom_faults_syncs() >= 0),
        arguments: 0..<4)
    func creation(passing: Int64) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .random(), plaintextHeader: PlaintextHeader())
        strongroom_faults_fail_syncs(passing)
        defer { strongroom_faults_fail_syncs(-1) }
        let error = #expect(throws: DatabaseError.self) {
            try withConnection(path, configuration) { try $0.execute(sql: "CREATE TABLE t(a)") }
        }
        #expect(error?.resultCode == .SQLITE_IOERR)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    }

    @Test("is read as it was written, also by the losers of a race")
    func agreement() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let first = SaltFile(salt: try .random(), header: 0), second = SaltFile(salt: try .random(), header: 0)
        #expect(try first.agree(.creation, of: path) == first)
        #expect(try second.agree(.creation, of: path) == first)
        #expect(try SaltFile.read(.creation, of: path) == first)
        #expect(try SaltFile.read(.permanent, of: path) == nil)
        try second.write(.creation, of: path)
        #expect(try SaltFile.read(.creation, of: path) == second)
        #expect(try SaltFile.readAll(.creation, of: path) == [second, first])
    }

    @Test("keeps the newest 1,024 former salts, and reads those of a longer file")
    func bounded() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), name = SaltFile.path(.permanent, of: path)
        try Data().write(to: URL(fileURLWithPath: path))
        let many = try (0..<16_700).map { _ in SaltFile(salt: try .random(), header: 32) }
        let text = Data(try SaltText.text(of: many))
        #expect(text.count > 1 << 20)
        try text.write(to: URL(fileURLWithPath: name))
        try #require(chmod(path, 0o640) == 0)
        #expect(try SaltFile.read(.permanent, of: path) == many.last)
        for round in 0..<3 {
            let next = SaltFile(salt: try .random(), header: 32), before = try SaltFile.readAll(.permanent, of: path)
            try next.write(.permanent, of: path)
            let after = try SaltFile.readAll(.permanent, of: path)
            #expect(after == [next] + before.prefix(SaltFile.mostFormer), "round \(round)")
            #expect(NamedFile.size(name) < 100_000)
        }
        let mode = try FileManager.default.attributesOfItem(atPath: name)[.posixPermissions] as? Int
        #expect(mode == 0o640)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["db.sqlite", "db.sqlite-salt"])
    }

    @Test("loses no salt to writers at the same time where it is replaced")
    func boundedAtOnce() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let many = try (0..<1_024).map { _ in SaltFile(salt: try .random(), header: 32) }
        try Data(try SaltText.text(of: many)).write(to: URL(fileURLWithPath: SaltFile.path(.permanent, of: path)))
        let new = try (0..<40).map { _ in SaltFile(salt: try .random(), header: 32) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for salt in new { group.addTask { try salt.write(.permanent, of: path) } }
            try await group.waitForAll()
        }
        let after = try SaltFile.readAll(.permanent, of: path)
        #expect(after.count == SaltFile.mostFormer + 1)
        #expect(Set(after).isSuperset(of: new))
    }

    @Test("that was changed anywhere is damaged, or says the same")
    func changed() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), name = SaltFile.path(.permanent, of: path)
        let file = SaltFile(salt: try .random(), header: 32)
        try file.write(.permanent, of: path)
        let text = try Data(contentsOf: URL(fileURLWithPath: name))
        var refusals = 0
        func expectSameOrDamaged(_ changed: Data) throws {
            try changed.write(to: URL(fileURLWithPath: name))
            do {
                #expect(try SaltFile.read(.permanent, of: path) == file, "\(String(decoding: changed, as: UTF8.self))")
            } catch let error as DatabaseError {
                #expect(error.resultCode == .SQLITE_CORRUPT)
                refusals += 1
            }
        }
        for index in text.indices {
            for byte in [
                0, UInt8(ascii: "\n"), UInt8(ascii: " "), UInt8(ascii: "0"), UInt8(ascii: "-"), 255, text[index] ^ 1,
                text[index] ^ 0x20,
            ] {
                var changed = text
                changed[index] = byte
                try expectSameOrDamaged(changed)
            }
            try expectSameOrDamaged(text.prefix(index))
        }
        #expect(refusals > text.count * 6)
        for _ in 0..<500 {
            try expectSameOrDamaged(Data((0..<Int.random(in: 0...600)).map { _ in UInt8.random(in: 0...255) }))
        }
    }

    @Test(
        "with a size that no header has is damaged, although its check is right",
        arguments: [-16, 8, 33, 112, 4096, 1 << 20, 1 << 40])
    func size(_ size: Int) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .random(), plaintextHeader: PlaintextHeader())
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try queue.close()
        let file = try #require(try SaltFile.read(.permanent, of: path))
        let before = try Data(contentsOf: URL(fileURLWithPath: path + "-salt"))
        try SaltFile(salt: file.salt, header: size).write(.permanent, of: path)
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.reason == .damagedSalt)
        try before.write(to: URL(fileURLWithPath: path + "-salt"))
        _ = try DatabaseQueue(path: path, configuration: configuration)
    }
}
