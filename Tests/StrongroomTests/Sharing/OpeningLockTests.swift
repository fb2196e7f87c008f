import Foundation
import TestSupport
import Testing

@testable import Strongroom

#if !canImport(Darwin)
@Suite("The lock of an opening", .timeLimit(.minutes(2)), .serialized)
struct OpeningLockTests {
    private static func following() -> Configuration {
        var configuration = Configuration.encrypted()
        configuration.observesSuspensionNotifications = true
        return configuration
    }

    @Test("is waited for as long as the configuration says, and the error names the process that has it")
    func timeLimit() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try DatabasePool.openShared(path: path, configuration: .encrypted()).close()
        let descriptor = open(OpeningLock.lockFile(of: path), O_RDONLY)
        #expect(flock(descriptor, LOCK_EX) == 0)
        defer { close(descriptor) }
        var configuration = Configuration.encrypted()
        let tries = Shared(0)
        let modes: [Database.BusyMode] = [
            .timeout(0.05),
            .callback { number in
                tries.update { $0 = number }
                return number < 3
            },
        ]
        for mode in modes {
            configuration.busyMode = mode
            for isReader in [false, true] {
                let error = #expect(throws: DatabaseError.self) {
                    if isReader {
                        _ = try DatabasePool.openSharedReadOnly(path: path, configuration: configuration)
                    } else {
                        _ = try DatabasePool.openShared(path: path, configuration: configuration)
                    }
                }
                #expect(error?.resultCode == .SQLITE_BUSY)
                #expect(error?.message?.contains("process \(getpid()) ") == true, "\(String(describing: error))")
            }
        }
        #expect(tries.value == 3)
        #expect(flock(descriptor, LOCK_UN) == 0)
        try DatabasePool.openShared(path: path, configuration: configuration).close()
    }

    @Test("is one of the locks that a stop waits for")
    func counted() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            let pool = try DatabasePool.openShared(path: path, configuration: Self.following()) { _ in
                #expect(Suspensions.shared.isLockHeld)
            }
            #expect(!Suspensions.shared.isLockHeld)
            try pool.close()
        }
    }

    @Test("is not taken during a suspension")
    func suspended() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            try DatabasePool.openShared(path: path, configuration: Self.following()).close()
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            defer { NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }
            let error = #expect(throws: DatabaseError.self) {
                _ = try DatabasePool.openShared(path: path, configuration: Self.following())
            }
            #expect(error?.reason == .suspended)
            #expect(!Suspensions.shared.isLockHeld)
        }
    }
}
#endif
