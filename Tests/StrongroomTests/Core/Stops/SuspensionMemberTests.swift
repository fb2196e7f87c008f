import Foundation
import TestSupport
import Testing

@testable import Strongroom

// A notification stops all work of the process on files. The tests that post one run in processes of their own.

private func following(_ configuration: Configuration) -> Configuration {
    var configuration = configuration
    configuration.observesSuspensionNotifications = true
    return configuration
}

private func suspend() { NotificationCenter.default.post(name: Database.suspendNotification, object: nil) }
private func resume() { NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }

@Suite("A suspension reaches", .timeLimit(.minutes(2)), .serialized)
struct SuspensionMemberTests {
    @Test("the opening of a database while it lasts, which takes no lock", arguments: [WriterKind.queue, .pool])
    func opening(_ kind: WriterKind) async {
        await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
            let kind = try #require(WriterKind(rawValue: kind))
            let fixture = try PoolFixture(following(walConfiguration()))
            try fixture.pool.write { try $0.insertWine() }
            let configuration = fixture.pool.configuration
            func open() throws -> any DatabaseWriter {
                switch kind {
                case .queue: try DatabaseQueue(path: fixture.path, configuration: configuration)
                default: try DatabasePool(path: fixture.path, configuration: configuration)
                }
            }
            suspend()
            let error = #expect(throws: DatabaseError.self) { _ = try open() }
            #expect(error?.reason == .suspended)
            #expect(try Locks.exclusive(on: fixture.path).isEmpty)
            resume()
            let writer = try open()
            try writer.write { try $0.insertWine() }
            #expect(try writer.read { try $0.countWines() } == 2)
        }
    }

    @Test("a connection that opens while it ends, which is not left suspended")
    func endDuringOpening() {
        final class Owner {}
        let owner = ObjectIdentifier(Owner()), keys = Owner(), family = ObjectIdentifier(keys)
        let suspensions = Suspensions.shared, isSuspended = Shared(false)
        suspensions.set(family, isSuspended: true, by: family)
        let member = Suspensions.Member(
            followsNotifications: false, family: family,
            suspend: {
                // Another thread resumes the database before this one has suspended the connection.
                suspensions.set(family, isSuspended: false, by: family)
                isSuspended.update { $0 = true }
            }, resume: { isSuspended.update { $0 = false } }, holdsLock: { false })
        suspensions.add(member, for: owner)
        defer { suspensions.remove(owner) }
        #expect(!isSuspended.value)
        withExtendedLifetime(keys) {}
    }

    @Test("an attachment, which opens the other database", arguments: [true, false])
    func attachment(byNotification: Bool) async {
        await #expect(processExitsWith: .success) { [byNotification] in
            let folder = try TemporaryFolder(), other = folder.path("other.sqlite")
            let encryption = Encryption(key: try .random())
            var configuration = Configuration()
            configuration.encryption = encryption
            let attached = try DatabaseQueue(path: other, configuration: configuration)
            try attached.inDatabase { db in
                // Reading takes its lock.
                _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = delete")
                try db.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)")
            }
            try attached.close()
            configuration = walConfiguration()
            configuration.observesSuspensionNotifications = byNotification
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            byNotification ? suspend() : queue.suspend()
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase { try $0.attach(path: other, as: "o", encryption: encryption) }
            }
            #expect(error?.isInterruptionError == true)
            byNotification ? resume() : queue.resume()
            try queue.inDatabase { try $0.attach(path: other, as: "o", encryption: encryption) }
        }
    }

    @Test("a check of a database, by the notification and by the database itself", arguments: [true, false])
    func check(byNotification: Bool) async {
        await #expect(processExitsWith: .success) { [byNotification] in
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            let isChecking = Shared(false), queue = Shared<DatabaseQueue?>(nil)
            var configuration = Configuration.encrypted()
            configuration.observesSuspensionNotifications = byNotification
            configuration.prepareDatabase { _ in
                guard isChecking.value else { return }
                if byNotification { suspend() } else { queue.value?.suspend() }
            }
            let database = try DatabaseQueue(path: path, configuration: configuration)
            queue.update { $0 = database }
            try database.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)") }
            #expect(try database.checkIntegrity().isIntact)
            isChecking.update { $0 = true }
            let error = #expect(throws: DatabaseError.self) { _ = try database.checkIntegrity() }
            #expect(error?.isInterruptionError == true)
            #expect(try Locks.all(on: path) == [])
            isChecking.update { $0 = false }
            byNotification ? resume() : database.resume()
            #expect(try database.checkIntegrity().isIntact)
        }
    }

    @Test("no database that is opened after a suspended one has gone")
    func forgotten() throws {
        let folder = try TemporaryFolder()
        for number in 0..<50 {
            let former = try DatabaseQueue(path: folder.path("\(number)"), configuration: .encrypted())
            try former.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)") }
            if number.isMultiple(of: 2) { former.suspend() } else { #expect(try former.checkIntegrity().isIntact) }
        }
    }

    @Test("the readers that a pool opens while it lasts, which read")
    func newReader() async {
        await #expect(processExitsWith: .success) {
            let fixture = try PoolFixture(following(walConfiguration()))
            try fixture.pool.write { try $0.insertWine() }
            suspend()
            defer { resume() }
            #expect(try fixture.pool.read { try $0.countWines() } == 1)
            #expect(try fixture.pool.makeSnapshot().read { try $0.countWines() } == 1)
        }
    }

    @Test("the locks of a check, which a stop waits for")
    func locksOfCheck() async {
        await #expect(processExitsWith: .success) {
            let fixture = try QueueFixture(following(.encrypted()))
            let other = try Database(
                path: fixture.queue.path, description: "check", configuration: fixture.queue.configuration)
            try other.withSoleAccess { db in
                try db.setUp()
                #expect(!Suspensions.shared.isLockHeld)
                try db.execute(sql: "BEGIN; SELECT * FROM wine")
                #expect(Suspensions.shared.isLockHeld)
            }
            #expect(!Suspensions.shared.isLockHeld)
        }
    }
}
