import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Each test is a process of its own, in which Dispatch has no thread left.
@Suite("A locked database needs no thread of Dispatch", .timeLimit(.minutes(2)))
struct LockThreadTests {
    @Test("when accesses have waited for their time", arguments: LockableKind.allCases)
    func limit(kind: LockableKind) async {
        await #expect(processExitsWith: .exitCode(5)) { [kind = kind.rawValue as String] in
            FreeThreadsTests.limit(seconds: 30)
            let configuration = LockFixture.configuration(.wait(0.2))
            let writer = try LockFixture(LockableKind(rawValue: kind)!, configuration).writer
            FreeThreadsTests.useUpThreads()
            start {
                try! writer.lock()
                let ends = (0..<4).map { _ in Gate() }
                start {
                    expectLocked { _ = try writer.read { try $0.countWines() } }
                    ends[0].open()
                }
                start {
                    expectLocked { try writer.write { try $0.insertWine() } }
                    ends[1].open()
                }
                writer.asyncRead { db in
                    expectLocked { _ = try db.get() }
                    ends[2].open()
                }
                writer.asyncWrite {
                    try $0.insertWine()
                } completion: { _, result in
                    expectLocked { _ = try result.get() }
                    ends[3].open()
                }
                for end in ends { end.pass() }
                try! writer.unlock(with: LockFixture.key)
                guard (try? writer.read { try $0.countWines() }) == 0 else { exit(6) }
                exit(5)
            }
            try await Task.sleep(nanoseconds: 60_000_000_000)
        }
    }

    @Test("when it locks itself", arguments: LockableKind.allCases)
    func autoLock(kind: LockableKind) async {
        await #expect(processExitsWith: .exitCode(5)) { [kind = kind.rawValue as String] in
            FreeThreadsTests.limit(seconds: 30)
            let writer = try LockFixture(LockableKind(rawValue: kind)!).writer
            FreeThreadsTests.useUpThreads()
            start {
                _ = writer.autoLock(on: .suspension)
                _ = writer.autoLock(onSignal: SIGUSR1)
                let locks = [
                    { writer.suspend() }, { _ = kill(getpid(), SIGUSR1) }, { _ = writer.autoLock(after: .idle(0.1)) },
                ]
                for lock in locks {
                    lock()
                    while !writer.isLocked { Thread.sleep(forTimeInterval: 0.005) }
                    writer.resume()
                    try! writer.unlock(with: LockFixture.key)
                }
                exit(5)
            }
            try await Task.sleep(nanoseconds: 60_000_000_000)
        }
    }
}
