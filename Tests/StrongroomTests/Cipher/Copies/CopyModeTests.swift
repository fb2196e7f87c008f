import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The files of a copy")
struct CopyModeTests {
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case encrypt, decrypt, migrate, vacuum, vacuumAs, statement, header

        var testDescription: String { rawValue }
    }

    private let encryption = Encryption(
        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))

    private func configuration(_ encryption: Encryption?) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption
        return configuration
    }

    private func copy(
        _ way: Way, _ source: String, _ destination: String, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        var withHeader = encryption
        withHeader.plaintextHeader = PlaintextHeader()
        switch way {
        case .encrypt:
            try DatabaseFile.encrypt(path: source, to: destination, encryption: encryption, progress: progress)
        case .decrypt:
            try DatabaseFile.decrypt(path: source, to: destination, encryption: encryption, progress: progress)
        case .migrate:
            try DatabaseFile.migrate(
                path: source, to: destination, from: encryption, as: encryption, progress: progress)
        case .header:
            try DatabaseFile.migrate(
                path: source, to: destination, from: encryption, as: withHeader, progress: progress)
        case .vacuum:
            try DatabaseQueue(path: source, configuration: configuration(encryption)).vacuum(into: destination)
        case .vacuumAs:
            try DatabaseQueue(path: source, configuration: configuration(encryption)).vacuum(
                into: destination, encryption: encryption)
        case .statement:
            try DatabaseQueue(path: source, configuration: configuration(encryption)).writeWithoutTransaction {
                try $0.execute(sql: "VACUUM INTO ?", arguments: [destination])
            }
        }
    }

    private func makeSource(_ path: String, _ way: Way) throws {
        let queue = try DatabaseQueue(path: path, configuration: configuration(way == .encrypt ? nil : encryption))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES ('kept')") }
        try queue.close()
    }

    @Test("have no more than the mode of the original", arguments: Way.allCases, [mode_t(0o600), 0o640, 0o644])
    func modes(way: Way, mode: mode_t) throws {
        let folder = try TemporaryFolder(), source = folder.path("source"), copy = folder.path("copy")
        try makeSource(source, way)
        chmod(source, mode)
        try self.copy(way, source, copy)
        let taken = permissions(of: copy)
        #expect(taken.map { $0 & ~mode } == 0)
        if let salt = permissions(of: copy + "-salt") { #expect(salt & ~mode == 0) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { !$0.hasPrefix(".") })
    }

    @Test(
        "belong to the owner of the original, as far as root makes them", .enabled(if: geteuid() == 0),
        arguments: Way.allCases.filter { $0 != .statement })
    func owner(way: Way) throws {
        let folder = try TemporaryFolder(), source = folder.path("source"), copy = folder.path("copy")
        try makeSource(source, way)
        chown(source, 1234, 2345)
        try self.copy(way, source, copy)
        var status = stat()
        #expect(lstat(copy, &status) == 0)
        #expect(status.st_uid == 1234 && status.st_gid == 2345)
    }

    @Test("are in a folder of their owner's until they are whole", arguments: [Way.decrypt, .encrypt, .migrate])
    func inProgress(way: Way) throws {
        let folder = try TemporaryFolder(), source = folder.path("source")
        try makeSource(source, way)
        var folders: [String] = []
        try copy(way, source, folder.path("copy")) { _ in
            folders = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter {
                $0.hasPrefix(".strongroom-partial-")
            }
            for name in folders { #expect(permissions(of: folder.path(name)) == 0o700) }
        }
        #expect(folders.count == 1)
    }

    @Test("of a process that was killed are gone with the next copy; those of one at work stay")
    func sweep() throws {
        let folder = try TemporaryFolder(), source = folder.path("source")
        try makeSource(source, .decrypt)
        // As after kill -9: no process holds the lock.
        let left = folder.path(".strongroom-partial-00c0ffee")
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        for name in ["copy", "copy-journal"] {
            try Data("clear".utf8).write(to: URL(fileURLWithPath: left + "/" + name))
        }
        // The folder of another user under such a name isn't ours to empty.
        let foreign = folder.path(".strongroom-partial-foreign")
        try FileManager.default.createDirectory(atPath: foreign, withIntermediateDirectories: false)
        try Data("keep".utf8).write(to: URL(fileURLWithPath: foreign + "/letter"))
        try copy(.decrypt, source, folder.path("one")) { progress in
            guard !FileManager.default.fileExists(atPath: folder.path("two")) else { return }
            // A second copy beside the first, which goes on.
            try copy(.migrate, source, folder.path("two"))
        }
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(FileManager.default.fileExists(atPath: foreign + "/letter"))
        #expect(
            try DatabaseQueue(path: folder.path("one")).read { try String.fetchOne($0, sql: "SELECT a FROM t") }
                == "kept")
        #expect(
            try DatabaseQueue(path: folder.path("two"), configuration: configuration(encryption)).read {
                try String.fetchOne($0, sql: "SELECT a FROM t")
            } == "kept")
    }

    @Test("in clear text are in no file that outlives a killed process and the next copy")
    func killed() async throws {
        let folder = try TemporaryFolder(), source = folder.path("source")
        try makeSource(source, .decrypt)
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder.path as String] in
            let encryption = Encryption(
                key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
            try DatabaseFile.decrypt(path: folder + "/source", to: folder + "/copy", encryption: encryption) { _ in
                kill(getpid(), SIGKILL)
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0 != "source" }
        #expect(left.count == 1)
        for name in left { #expect(permissions(of: folder.path(name)) == 0o700) }
        try copy(.decrypt, source, folder.path("copy"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["copy", "source"])
    }

    @Test(
        "may have a name that looks like a URI",
        arguments: ["file:..%2fother.db", "file:copy?mode=memory%20", "file:a?key=b"])
    func names(name: String) throws {
        let folder = try TemporaryFolder(), source = folder.path("source")
        try makeSource(source, .migrate)
        for way in [Way.migrate, .vacuum] {
            let here = folder.path(way.rawValue)
            try FileManager.default.createDirectory(atPath: here, withIntermediateDirectories: false)
            try inFolder(here) {
                try copy(way, source, name)
                #expect(try DatabaseFile.inspect(path: name).kind == .encrypted)
                let queue = try DatabaseQueue(path: name, configuration: configuration(encryption))
                #expect(try queue.read { try String.fetchOne($0, sql: "SELECT a FROM t") } == "kept")
                try queue.close()
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: here) == [name])
        }
    }

    @Test("of a copy in a copy that were killed are gone with the next copy; those of one at work stay")
    func nested() throws {
        let folder = try TemporaryFolder(), source = folder.path("source")
        try makeSource(source, .decrypt)
        func leave(_ name: String) throws -> String {
            let inner = folder.path(".strongroom-partial-\(name)/.strongroom-partial-00c0ffef")
            try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
            for file in ["copy", "copy-keys"] {
                try Data("clear".utf8).write(to: URL(fileURLWithPath: inner + "/" + file))
            }
            return inner
        }
        let left = try leave("00c0ffee"), used = try leave("00c0ffea")
        let descriptor = open(used, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try copy(.decrypt, source, folder.path("one"))
        #expect(!FileManager.default.fileExists(atPath: folder.path(".strongroom-partial-00c0ffee")), "\(left)")
        #expect(FileManager.default.fileExists(atPath: used + "/copy-keys"))
    }
}
