import Foundation
import Strongroom
import Testing

@Suite("Signals", .timeLimit(.minutes(2)))
struct SignalTests {
    @Test("SIGTERM suspends databases after a grace period, and terminates the process")
    func termination() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            let isTerminating = Gate()
            let signals = SuspensionSignals(gracePeriod: 0.05) { isTerminating.open() }
            let process = try SignalledProcess()
            let write = process.startWriting { try $0.writeForever() }
            try await onThread {
                process.isWriting.pass()
                kill(getpid(), SIGTERM)
                isTerminating.pass()
                write.pass()
                // Only an interruption may end the process by the signal that the test waits for.
                if (process.failure.value as? DatabaseError)?.isInterruptionError != true { exit(1) }
                // Until the process ends.
                Gate().pass()
            }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("SIGTSTP stops the process without a lock, and SIGCONT lets it write again")
    func stopAndContinue() async throws {
        await #expect(processExitsWith: .success) {
            let signals = SuspensionSignals()
            let process = try SignalledProcess(), pool = process.fixture.pool
            let write = process.startWriting { try $0.writeForever() }
            let locks = try await process.locksWhileStopped(write)
            guard locks.isEmpty else { exit(2) }
            guard try await pool.read({ try $0.countWines() }) == 0 else { exit(3) }
            // The notification follows the signal on a queue.
            let isResumed = try await eventually { (try? pool.unsafeReentrantWrite { try $0.insertWine() }) != nil }
            guard isResumed else { exit(4) }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("SIGTSTP waits for a lock that a block keeps")
    func stopWaitsForLock() async throws {
        await #expect(processExitsWith: .success) {
            let signals = SuspensionSignals()
            let process = try SignalledProcess()
            let write = process.startWriting { db in
                process.isSuspended.pass()
                // Longer than any time that one could give it.
                _ = Gate().opens(within: 0.5)
                try db.insertWine()
            }
            let locks = try await process.locksWhileStopped(write)
            guard locks.isEmpty else { exit(2) }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("a SIGCONT that comes before the process has stopped is not lost")
    func earlyContinuation() async throws {
        await #expect(processExitsWith: .success) {
            let signals = SuspensionSignals()
            let process = try SignalledProcess(), mayEnd = Gate()
            let write = process.startWriting { _ in mayEnd.pass() }
            try await onThread {
                process.isWriting.pass()
                kill(getpid(), SIGTSTP)
                process.isSuspended.pass()
                kill(getpid(), SIGCONT)
                process.isResumed.pass()
                mayEnd.open()
                write.pass()
            }
            guard process.failure.value == nil else { exit(2) }
            guard try await process.fixture.pool.read({ try $0.countWines() }) == 1 else { exit(3) }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("the former handlers are restored when the signals are no longer observed")
    func formerHandlers() async throws {
        await #expect(processExitsWith: .success) {
            func handler(_ number: CInt) -> sigaction {
                var action = sigaction()
                sigaction(number, nil, &action)
                return action
            }
            signal(SIGTSTP) { _ in }
            signal(SIGTERM, SIG_IGN)
            let numbers = [SIGTSTP, SIGCONT, SIGTERM]
            func handlers() -> [UInt] {
                numbers.map { unsafeBitCast(handler($0).__sigaction_handler.sa_handler, to: UInt.self) }
            }
            let before = handlers()
            for _ in 1...2 {
                let signals = SuspensionSignals()
                guard zip(handlers(), before).allSatisfy({ $0 != $1 }) else { exit(2) }
                withExtendedLifetime(signals) {}
            }
            guard handlers() == before else { exit(3) }
        }
    }
}

/// The process of an exit test, which writes while signals come.
private final class SignalledProcess: Sendable {
    let fixture: PoolFixture
    /// Opens once the lock of a writer is taken.
    let isWriting = Gate()
    let isSuspended = SignalledProcess.gate(for: Database.suspendNotification)
    let isResumed = SignalledProcess.gate(for: Database.resumeNotification)
    /// The error of the write.
    let failure = Shared<(any Error)?>(nil)

    init() throws {
        var configuration = Configuration.encrypted()
        configuration.observesSuspensionNotifications = true
        fixture = try PoolFixture(configuration)
    }

    private static func gate(for name: Notification.Name) -> Gate {
        let gate = Gate()
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in gate.open() }
        return gate
    }

    /// Writes on a thread of its own: a row, and what `work` writes. The gate opens when it is over.
    func startWriting(_ work: @escaping @Sendable (Database) throws -> Void) -> Gate {
        start { [self] in
            do {
                try fixture.pool.write { db in
                    try db.insertWine()
                    isWriting.open()
                    try work(db)
                }
            } catch {
                failure.update { $0 = error }
            }
        }
    }

    /// Sends SIGTSTP while the write holds its lock. Another process sees this one stopped, looks at its locks, and
    /// lets it go on.
    func locksWhileStopped(_ write: Gate) async throws -> String {
        try await onThread { [self] in
            isWriting.pass()
            let found = fixture.folder.path("locks"), identifier = getpid()
            let watcher = Process()
            watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
            watcher.arguments = [
                "-c",
                """
                until grep -q '^State:.T' /proc/\(identifier)/status; do :; done
                grep ' WRITE \(identifier) ' /proc/locks > '\(found)'
                kill -CONT \(identifier)
                """,
            ]
            try watcher.run()
            kill(getpid(), SIGTSTP)
            watcher.waitUntilExit()
            write.pass()
            return try String(contentsOfFile: found, encoding: .utf8)
        }
    }
}
