import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Opening without memory")
struct OpeningMemoryTests {
    @Test("throws at each refused allocation, and leaves the file as it was", arguments: [false, true])
    func refused(lasting: Bool) async throws {
        // The allocator must be there before SQLite is used for the first time.
        await #expect(processExitsWith: .success) { [lasting = lasting as Bool] in
            installRefusingAllocator()
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            try DatabaseQueue(path: path, configuration: .encrypted()).write {
                try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)")
            }
            try refuseEachAllocation(lasting: lasting) { _ in
            } work: {
                _ = try DatabaseQueue(path: path, configuration: .encrypted())
            }
            let queue = try DatabaseQueue(path: path, configuration: .encrypted())
            guard try queue.read({ try Int.fetchOne($0, sql: "SELECT a FROM t") }) == 7 else { exit(6) }
        }
    }

    @Test("frees no memory twice if the database is new, and closes its file", arguments: [false, true])
    func new(lasting: Bool) async throws {
        await #expect(processExitsWith: .success) { [lasting = lasting as Bool] in
            installRefusingAllocator()
            let folder = try TemporaryFolder()
            // SQLCipher stops the process if it has no memory for the first key of all.
            _ = try DatabaseQueue(configuration: .encrypted())
            let control = try DatabaseQueue(path: folder.path("control"), configuration: .encrypted())
            guard try !openFiles(in: folder.path).isEmpty else { exit(5) }
            try control.close()
            try refuseEachAllocation(lasting: lasting) {
                folder.path("\($0).sqlite")
            } work: {
                try DatabaseQueue(path: $0, configuration: .encrypted()).close()
            }
            guard try openFiles(in: folder.path).isEmpty else { exit(6) }
        }
    }
}

/// The open files of the process in a folder. Its other threads, which are not the test's, open and close files, too.
private func openFiles(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { descriptor in
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
        return target?.hasPrefix(folder) ?? false
    }
}
