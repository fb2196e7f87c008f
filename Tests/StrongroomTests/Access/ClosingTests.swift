import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("Closing")
struct ClosingTests {
    @Test("tells the log which statements keep the connection open, without their keys")
    func logged() async {
        await #expect(processExitsWith: .success) {
            let lines = Shared<[String]>([])
            Database.logError = { code, line in lines.update { $0.append("\(code.rawValue) \(line)") } }
            let folder = try TemporaryFolder()
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
            let statements = try queue.inDatabase { db in
                try [db.makeStatement(sql: "SELECT 1"), db.makeStatement(sql: "ATTACH 'other' AS o KEY 'secret'")]
            }
            let error = #expect(throws: DatabaseError.self) { try queue.close() }
            #expect(error?.resultCode == .SQLITE_BUSY)
            let told = lines.value
            #expect(told.contains("5 unfinalized statement: SELECT 1"))
            #expect(told.count { $0.hasPrefix("5 unfinalized statement") } == 2)
            #expect(!told.joined().contains("secret"))
            try withExtendedLifetime(statements) { try queue.inDatabase { try $0.execute(sql: "SELECT 1") } }
        }
    }

    @Test("a pool whose reader has a living statement says so, and the pool goes on until it is closed again")
    func livingReader() throws {
        let fixture = try PoolFixture()
        var statement: Statement? = try fixture.pool.read { try $0.makeStatement(sql: "SELECT count(*) FROM wine") }
        let error = #expect(throws: DatabaseError.self) { try fixture.pool.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        try fixture.pool.write { try $0.insertWine() }
        #expect(try fixture.pool.read { try $0.countWines() } == 1)
        withExtendedLifetime(statement) {}
        statement = nil
        try fixture.pool.close()
        let read = #expect(throws: DatabaseError.self) { try fixture.pool.read { try $0.countWines() } }
        let write = #expect(throws: DatabaseError.self) { try fixture.pool.write { try $0.insertWine() } }
        #expect(read?.reason == .closed)
        #expect(write?.reason == .closed)
    }

    @Test("a snapshot with a living statement says so, and the snapshot goes on")
    func livingSnapshot() throws {
        let fixture = try PoolFixture()
        let snapshot = try fixture.pool.makeSnapshot()
        let statement = try snapshot.read { try $0.makeStatement(sql: "SELECT count(*) FROM wine") }
        let error = #expect(throws: DatabaseError.self) { try snapshot.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(try snapshot.read { try $0.countWines() } == 0)
        withExtendedLifetime(statement) {}
    }
}

@Suite("Opening a queue or a pool")
struct OpeningAccessTests {
    @Test("leaves a write-ahead log and its index, for programs that can't make them", arguments: [true, false])
    func logs(isNew: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        if !isNew {
            try DatabaseQueue(path: path, configuration: .encrypted()).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        }
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        for ending in ["-wal", "-shm"] { #expect(FileManager.default.fileExists(atPath: path + ending)) }
        try pool.close()
    }

    @Test("for reading only takes the target queue of readers, whoever asks")
    func readOnlyTarget() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try DatabasePool(path: path, configuration: .encrypted()).close()
        let target = DispatchQueue(label: "target"), key = DispatchSpecificKey<String>()
        target.setSpecific(key: key, value: "target")
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        configuration.targetQueue = target
        configuration.writeTargetQueue = DispatchQueue(label: "writer")
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { _ in DispatchQueue.getSpecific(key: key) } == "target")
        #expect(try queue.write { _ in DispatchQueue.getSpecific(key: key) } == "target")
        let pool = try DatabasePool(path: path, configuration: configuration)
        #expect(try pool.read { _ in DispatchQueue.getSpecific(key: key) } == "target")
        #expect(try pool.unsafeRead { _ in DispatchQueue.getSpecific(key: key) } == "target")
    }
}
