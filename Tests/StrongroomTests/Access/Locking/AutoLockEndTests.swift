import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A closed database that was to lock itself", .timeLimit(.minutes(2)))
struct AutoLockEndTests {
    private static let event = Notification.Name("screen is locked")

    @Test("has no rules any more, and gets none", arguments: LockableKind.allCases, [false, true])
    func rules(kind: LockableKind, isLocked: Bool) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer, center = NotificationCenter()
        func add() -> [AutoLock] {
            [
                writer.autoLock(after: .idle(60)), writer.autoLock(on: .suspension),
                writer.autoLock(on: Self.event, in: center),
            ]
        }
        let rules = add()
        if isLocked { try await writer.lock() }
        #expect(rules.allSatisfy { !$0.isCancelled })
        try writer.close()
        #expect(rules.allSatisfy { $0.isCancelled })
        #expect(add().allSatisfy { $0.isCancelled })
    }

    @Test("keeps its rules if it could not be closed", arguments: LockableKind.allCases)
    func failedClose(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let rule = writer.autoLock(after: .idle(60)), kept = Shared<Statement?>(nil)
        try await writer.writeWithoutTransaction { db in
            let statement = try db.makeStatement(sql: "SELECT count(*) FROM wine")
            kept.update { $0 = statement }
        }
        #expect(throws: DatabaseError.self) { try writer.close() }
        #expect(!rule.isCancelled)
        kept.update { $0 = nil }
        try writer.close()
        #expect(rule.isCancelled)
    }

    @Test("does not log an event that came just before", arguments: LockableKind.allCases)
    func earlierEvent(kind: LockableKind) async {
        await #expect(processExitsWith: .success) { [kind = kind.rawValue as String] in
            let lines = Shared<[String]>([])
            Database.logError = { _, line in lines.update { $0.append(line) } }
            let writer = try LockFixture(LockableKind(rawValue: kind)!).writer
            let rule = writer.autoLock(onSignal: SIGUSR1)
            try writer.close()
            guard rule.isCancelled else { exit(3) }
            writer.served?.databaseLock.lockLater()
            // A failure is logged on another thread.
            try await Task.sleep(nanoseconds: 200_000_000)
            guard lines.value.isEmpty else { exit(4) }
        }
    }
}
