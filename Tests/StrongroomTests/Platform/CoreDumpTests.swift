import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Core dumps")
struct CoreDumpTests {
    /// True if this machine writes them beside the program that ends.
    private static var areFiles: Bool {
        let pattern = (try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
        return pattern.map { !$0.isEmpty && !$0.contains("/") && !$0.contains("|") } ?? false
    }

    /// Opens a database with the key that lies in the folder, and ends by a signal that dumps core.
    private static func crash(in folder: String, preventing: Bool) throws {
        guard FileManager.default.changeCurrentDirectoryPath(folder) else { exit(0) }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { exit(0) }
        limit.rlim_cur = limit.rlim_max
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0 else { exit(0) }
        if preventing { try CoreDumps.prevent() }
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey(Data(contentsOf: URL(fileURLWithPath: folder + "/key"))))
        let queue = try DatabaseQueue(path: folder + "/db", configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        abort()
    }

    @Test("hold the key that SQLCipher keeps, and are not written once they are prevented", .enabled(if: areFiles))
    func files() async throws {
        let folder = try TemporaryFolder(), key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        for name in ["default", "prevented"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
            try key.write(to: URL(fileURLWithPath: folder.path(name) + "/key"))
        }
        await #expect(processExitsWith: .signal(SIGABRT)) { [path = folder.path("default") as String] in
            try CoreDumpTests.crash(in: path, preventing: false)
        }
        await #expect(processExitsWith: .signal(SIGABRT)) { [path = folder.path("prevented") as String] in
            try CoreDumpTests.crash(in: path, preventing: true)
        }
        func dumps(_ name: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path(name)).filter { $0.hasPrefix("core") }
        }
        #expect(try dumps("prevented").isEmpty)
        // As the threat model says. Where the limits allow no dump, there is nothing to look at.
        for dump in try dumps("default") {
            let bytes = try Data(
                contentsOf: URL(fileURLWithPath: folder.path("default") + "/" + dump), options: .mappedIfSafe)
            #expect(bytes.range(of: key) != nil)
        }
    }

    @Test("have no room once they are prevented")
    func limit() async {
        await #expect(processExitsWith: .success) {
            try CoreDumps.prevent()
            var limit = rlimit()
            guard getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit) == 0, limit.rlim_cur == 0,
                limit.rlim_max == 0
            else { exit(3) }
        }
    }
}
