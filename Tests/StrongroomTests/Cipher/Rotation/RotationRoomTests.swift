import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A rotation on a file system that is full or can't be written")
struct RotationRoomTests {
    @Test(
        "that fills up changes nothing, and succeeds when there is room", .enabled(if: getuid() == 0),
        arguments: [true, false])
    func fullDisk(wal: Bool) throws {
        let disk = try SmallDisk(megabytes: 8)
        var file = RotatedFile(path: disk.path + "/db.sqlite")
        try file.create(wal: wal, rows: 500)
        let queue = try DatabaseQueue(path: file.path, configuration: file.configuration)
        var isFull = false
        let error = #expect(throws: DatabaseError.self) {
            try queue.rotateKey(to: file.otherKey) { progress in
                guard progress.completedPageCount == 100 else { return }
                disk.fill()
                isFull = true
            }
        }
        #expect(isFull)
        #expect(error?.resultCode == .SQLITE_FULL)
        #expect(error?.reason == .keyUnchanged)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 500)
        disk.empty()
        try file.write(queue)
        try queue.rotateKey(to: file.otherKey)
        try queue.close()
        try file.requireOneKey("after the full disk")
        #expect(file.isNew)
    }

    @Test("that meets the limit of file sizes on the way changes nothing")
    func fileSizeLimit() async throws {
        await #expect(processExitsWith: .success) {
            signal(SIGXFSZ, SIG_IGN)
            let folder = try TemporaryFolder()
            var file = RotatedFile(path: folder.path("db.sqlite"))
            try file.create(wal: true, rows: 500)
            let queue = try DatabaseQueue(path: file.path, configuration: file.configuration)
            do {
                try queue.rotateKey(to: file.otherKey) {
                    if $0.completedPageCount == 100 { limitFileSize(to: 500_000) }
                }
                exit(3)
            } catch let error as DatabaseError {
                guard [.SQLITE_FULL, .SQLITE_IOERR].contains(error.resultCode) else { exit(4) }
            }
            limitFileSize(to: 1_000_000_000)
            try file.write(queue)
            try queue.close()
            try file.requireOneKey("after the limit")
            if file.isNew { exit(5) }
        }
    }

    @Test(
        "of a file, or in a folder, that can't be written says so, and leaves all as it is",
        arguments: ["file", "folder"])
    func readOnly(_ what: String) async throws {
        await #expect(processExitsWith: .success) { [what = what as String] in
            let folder = try TemporaryFolder()
            var file = RotatedFile(path: folder.path("db.sqlite"))
            try file.create(wal: false, rows: 50)
            let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
            guard chmod(file.path, what == "file" ? 0o444 : 0o666) == 0, chmod(folder.path, 0o555) == 0 else { exit(3) }
            // Root may write anything.
            if getuid() == 0, seteuid(65534) != 0 { exit(4) }
            let error = #expect(throws: DatabaseError.self) {
                try DatabaseQueue(path: file.path, configuration: file.configuration).rotateKey(to: file.otherKey)
            }
            guard [.SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_MISUSE].contains(error?.resultCode) else {
                exit(5)
            }
            if getuid() == 0, seteuid(0) != 0 { exit(6) }
            guard chmod(folder.path, 0o755) == 0, chmod(file.path, 0o644) == 0 else { exit(7) }
            #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["db.sqlite"])
            try file.requireOneKey("unwritable")
            if file.isNew { exit(8) }
        }
    }

    @Test("by a read-only connection is refused")
    func readOnlyConnection() throws {
        let folder = try TemporaryFolder()
        var file = RotatedFile(path: folder.path("db.sqlite"))
        try file.create(wal: true, rows: 5)
        var configuration = try file.configuration
        configuration.readonly = true
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        let error = #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.changePassphrase("new") } }
        #expect(error?.resultCode == .SQLITE_READONLY)
        try queue.close()
        try file.requireOneKey("read-only")
        #expect(!file.isNew)
    }
}

private func limitFileSize(to bytes: rlim_t) {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(20) }
    limit.rlim_cur = bytes
    guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(21) }
}

/// A file system in memory, with room for little.
private final class SmallDisk {
    private let folder: TemporaryFolder
    var path: String { folder.path }

    init(megabytes: Int) throws {
        folder = try TemporaryFolder()
        try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "none", folder.path)
    }

    deinit { try? Self.run("umount", "-l", folder.path) }

    func fill() {
        let ballast = open(path + "/ballast", O_WRONLY | O_CREAT, 0o600)
        var size = 1 << 20
        let zeros = [UInt8](repeating: 0, count: size)
        while size > 0 { if write(ballast, zeros, size) <= 0 { size /= 2 } }
        close(ballast)
    }

    func empty() { unlink(path + "/ballast") }

    private static func run(_ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(arguments)")
    }
}
