import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A database that locks itself", .timeLimit(.minutes(2)))
struct AutoLockTests {
    @Test("does so when it is idle, and not before", arguments: LockableKind.allCases)
    func idle(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let autoLock = writer.autoLock(after: .idle(0.3))
        let begin = Date()
        var latest = begin
        while -begin.timeIntervalSinceNow < 0.9 {
            let now = Date()
            do {
                _ = try await writer.read { try $0.countWines() }
            } catch is DatabaseError {
                // The machine has not let this thread run for so long that the database is locked.
                break
            }
            latest = now
            try await Task.sleep(nanoseconds: 5_000_000)
        }
        #expect(try await eventually { writer.isLocked })
        #expect(-latest.timeIntervalSinceNow > 0.29)
        try await writer.unlock(with: LockFixture.key)
        #expect(try await eventually { writer.isLocked })
        try await writer.unlock(with: LockFixture.key)
        autoLock.cancel()
        // A lock that has begun goes on, once.
        try await Task.sleep(nanoseconds: 600_000_000)
        if writer.isLocked { try await writer.unlock(with: LockFixture.key) }
        try await Task.sleep(nanoseconds: 600_000_000)
        #expect(!writer.isLocked)
    }

    @Test("is not idle while an access runs", arguments: LockableKind.allCases)
    func running(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let held = try await HeldAccess { hold in
            try writer.read { db in
                hold()
                // A lock that had begun would refuse it.
                _ = try db.countWines()
            }
        }
        _ = writer.autoLock(after: .idle(0.1))
        try await Task.sleep(nanoseconds: 400_000_000)
        #expect(!writer.isLocked)
        try await held.end()
        #expect(try await eventually { writer.isLocked })
    }

    @Test("does so when it is suspended", arguments: LockableKind.allCases)
    func suspension(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let autoLock = writer.autoLock(on: .suspension)
        writer.suspend()
        #expect(try await eventually { writer.isLocked })
        writer.resume()
        await expectLockedOut { _ = try await writer.read { try $0.countWines() } }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
        autoLock.cancel()
        writer.suspend()
        writer.resume()
        try await writer.write { try $0.insertWine() }
        #expect(!writer.isLocked)
    }

    @Test("does so at a notification of the program's", arguments: LockableKind.allCases)
    func notification(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let center = NotificationCenter(), name = Notification.Name("screen is locked")
        let autoLock = writer.autoLock(on: name, in: center)
        for _ in 0..<2 {
            center.post(name: name, object: nil)
            #expect(try await eventually { writer.isLocked })
            try await writer.unlock(with: LockFixture.key)
        }
        autoLock.cancel()
        center.post(name: name, object: nil)
        try await writer.write { try $0.insertWine() }
        #expect(!writer.isLocked)
    }

    @Test("does so again while the first lock still releases objects", arguments: LockableKind.allCases)
    func secondEvent(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let isReleasing = Gate(), mayEnd = Gate()
        try await writer.writeWithoutTransaction { db in
            let farewell = Farewell {
                isReleasing.open()
                mayEnd.pass()
            }
            db.add(function: DatabaseFunction("one", argumentCount: 0) { _ in withExtendedLifetime(farewell) { 1 } })
        }
        let center = NotificationCenter(), name = Notification.Name("screen is locked")
        let autoLock = writer.autoLock(on: name, in: center)
        center.post(name: name, object: nil)
        try await onThread { isReleasing.pass() }
        #expect(writer.isLocked)
        try await writer.unlock(with: LockFixture.key)
        center.post(name: name, object: nil)
        #expect(try await eventually { writer.isLocked })
        mayEnd.open()
        autoLock.cancel()
    }

    @Test("does so at a signal", arguments: LockableKind.allCases)
    func signal(kind: LockableKind) async {
        await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
            let fixture = try LockFixture(LockableKind(rawValue: kind)!), writer = fixture.writer
            _ = writer.autoLock(onSignal: SIGUSR1)
            for _ in 0..<2 {
                kill(getpid(), SIGUSR1)
                guard try await eventually({ writer.isLocked }) else { exit(3) }
                try await writer.unlock(with: LockFixture.key)
            }
        }
    }

    @Test("is released with its database")
    func release() async throws {
        weak var released: DatabaseQueue?
        do {
            let folder = try TemporaryFolder()
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: LockFixture.configuration())
            released = queue
            queue.autoLock(after: .idle(60))
            queue.autoLock(on: .suspension)
            queue.autoLock(on: Notification.Name("screen is locked"))
        }
        #expect(released == nil)
    }
}
