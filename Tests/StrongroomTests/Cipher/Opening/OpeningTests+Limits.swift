import Foundation
import TestSupport
import Testing

@testable import Strongroom

extension OpeningTests {
    @Test(
        "A database opens with a timeout that is no number, and with one without end", arguments: [.nan, -1, .infinity])
    func timeouts(seconds: TimeInterval) throws {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(seconds)
        try withEncryptedQueue(configuration) { queue in
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        }
    }

    @Test(
        "Opening prints nothing on stderr where memory can't be locked",
        .enabled(
            if: SQLCipherVersion.running < .rebuilt || SQLCipherVersion.running >= SQLCipherVersion(4, 16),
            "SQLCipher 4.7 to 4.15 print a line before any log can be set"))
    func quietWithoutLocks() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            // Root may lock memory above the limit.
            if geteuid() == 0 {
                guard chown(folder.path, 65534, 65534) == 0, setgid(65534) == 0, setuid(65534) == 0 else { exit(2) }
            }
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            let lockedMemory = __rlimit_resource_t(8)  // RLIMIT_MEMLOCK, which is not imported
            guard setrlimit(lockedMemory, &limit) == 0 else { exit(3) }
            var byte = UInt8(0)
            guard mlock(&byte, 1) != 0 else { exit(4) }
            try DatabaseQueue(path: path, configuration: .encrypted()).write {
                try $0.execute(sql: "CREATE TABLE t(a)")
            }
        }
        #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("mlock"))
    }
}
