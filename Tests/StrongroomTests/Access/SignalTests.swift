import Foundation
import Strongroom
import Testing

@Suite("Signals", .timeLimit(.minutes(2)))
struct SignalTests {
    /// What a child process is to do while signals come: write without end, and tell of each state through a file.
    static func observedPool() throws -> PoolFixture {
        var configuration = Configuration.encrypted()
        configuration.observesSuspensionNotifications = true
        return try PoolFixture(configuration)
    }

    @Test("SIGTERM suspends databases after a grace period, and terminates the process")
    func termination() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) {
            let fixture = try SignalTests.observedPool()
            let isTerminating = Gate()
            let signals = SuspensionSignals(gracePeriod: 0.05) { isTerminating.open() }
            let isWriting = Gate()
            let write = start {
                do {
                    try fixture.pool.write { db in
                        try db.insertWine()
                        isWriting.open()
                        try db.writeForever()
                    }
                } catch {
                    // Only an interruption may end the process by the signal that the test waits for.
                    if (error as? DatabaseError)?.isInterruptionError != true { exit(1) }
                }
            }
            try await onThread {
                isWriting.pass()
                kill(getpid(), SIGTERM)
                isTerminating.pass()
                write.pass()
                // Until the process ends.
                Gate().pass()
            }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("SIGTSTP stops the process without a lock, and SIGCONT lets it write again")
    func stopAndContinue() async throws {
        await #expect(processExitsWith: .success) {
            let fixture = try SignalTests.observedPool()
            let signals = SuspensionSignals()
            let isWriting = Gate()
            let write = start {
                _ = try? fixture.pool.write { db in
                    try db.insertWine()
                    isWriting.open()
                    try db.writeForever()
                }
            }
            try await onThread {
                isWriting.pass()
                // Another process sees this one stopped, looks at its locks, and lets it go on.
                let watcher = Process()
                watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
                let identifier = ProcessInfo.processInfo.processIdentifier
                watcher.arguments = ["-c", """
                    until grep -q '^State:.T' /proc/\(identifier)/status; do :; done
                    grep ' WRITE \(identifier) ' /proc/locks > '\(fixture.folder.path("locks"))'
                    kill -CONT \(identifier)
                    """]
                try watcher.run()
                kill(getpid(), SIGTSTP)
                watcher.waitUntilExit()
                write.pass()
            }
            let locks = try String(contentsOfFile: fixture.folder.path("locks"), encoding: .utf8)
            guard locks.isEmpty else { exit(2) }
            guard try await fixture.pool.read({ try $0.countWines() }) == 0 else { exit(3) }
            // The notification follows the signal on a queue.
            let isResumed = try await eventually { (try? fixture.pool.unsafeReentrantWrite { try $0.insertWine() }) != nil }
            guard isResumed else { exit(4) }
            withExtendedLifetime(signals) {}
        }
    }

    /// A gate that opens at a notification.
    static func gate(for name: Notification.Name) -> Gate {
        let gate = Gate()
        _ = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in gate.open() }
        return gate
    }

    @Test("SIGTSTP waits for a lock that a block keeps")
    func stopWaitsForLock() async throws {
        await #expect(processExitsWith: .success) {
            let fixture = try SignalTests.observedPool()
            let signals = SuspensionSignals()
            let isWriting = Gate(), isSuspended = SignalTests.gate(for: Database.suspendNotification)
            let write = start {
                _ = try? fixture.pool.write { db in
                    try db.insertWine()
                    isWriting.open()
                    isSuspended.pass()
                    // Longer than any time that one could give it.
                    _ = Gate().opens(within: 0.5)
                    try db.insertWine()
                }
            }
            try await onThread {
                isWriting.pass()
                let watcher = Process()
                watcher.executableURL = URL(fileURLWithPath: "/bin/sh")
                let identifier = ProcessInfo.processInfo.processIdentifier
                watcher.arguments = ["-c", """
                    until grep -q '^State:.T' /proc/\(identifier)/status; do :; done
                    grep ' WRITE \(identifier) ' /proc/locks > '\(fixture.folder.path("locks"))'
                    kill -CONT \(identifier)
                    """]
                try watcher.run()
                kill(getpid(), SIGTSTP)
                watcher.waitUntilExit()
                write.pass()
            }
            let locks = try String(contentsOfFile: fixture.folder.path("locks"), encoding: .utf8)
            guard locks.isEmpty else { exit(2) }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("a SIGCONT that comes before the process has stopped is not lost")
    func earlyContinuation() async throws {
        await #expect(processExitsWith: .success) {
            let fixture = try SignalTests.observedPool()
            let signals = SuspensionSignals()
            let isWriting = Gate(), mayEnd = Gate()
            let isSuspended = SignalTests.gate(for: Database.suspendNotification)
            let isResumed = SignalTests.gate(for: Database.resumeNotification)
            let write = start {
                try! fixture.pool.write { db in
                    try db.insertWine()
                    isWriting.open()
                    mayEnd.pass()
                }
            }
            try await onThread {
                isWriting.pass()
                kill(getpid(), SIGTSTP)
                isSuspended.pass()
                kill(getpid(), SIGCONT)
                isResumed.pass()
                mayEnd.open()
                write.pass()
            }
            guard try await fixture.pool.read({ try $0.countWines() }) == 1 else { exit(3) }
            withExtendedLifetime(signals) {}
        }
    }

    @Test("the former handlers are back when nobody observes the signals anymore")
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
