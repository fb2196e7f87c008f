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
}
