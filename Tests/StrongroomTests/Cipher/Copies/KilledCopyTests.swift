import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A copy with a plaintext header has two names to get: that of its salt, and its own.
@Suite("A copy that was killed before it had its name")
struct KilledCopyTests {
    enum Way: String, CaseIterable, Codable, CustomTestStringConvertible {
        case encrypt, migrate, vacuum

        var testDescription: String { rawValue }

        func copy(_ source: String, to destination: String) throws {
            switch self {
            case .encrypt: try DatabaseFile.encrypt(path: source, to: destination, encryption: encryption)
            case .migrate: try DatabaseFile.migrate(path: source, to: destination, from: encryption, as: encryption)
            case .vacuum: try DatabaseQueue(path: source, configuration: configuration).vacuum(into: destination)
            }
        }

        func makeSource(_ path: String) throws {
            let queue = try DatabaseQueue(path: path, configuration: self == .encrypt ? Configuration() : configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES ('kept')") }
            try queue.close()
        }
    }

    private static let encryption = Encryption(
        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000),
        plaintextHeader: PlaintextHeader())

    private static var configuration: Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption
        return configuration
    }

    private func names(_ folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func read(_ path: String) throws -> String? {
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        defer { try? queue.close() }
        return try queue.read { try String.fetchOne($0, sql: "SELECT a FROM t") }
    }

    @Test(
        "leaves a salt that is gone with the next copy to the same name, or to another one",
        .enabled(if: strongroom_faults_refused_names() >= 0), arguments: Way.allCases, ["copy", "another"])
    func betweenNames(_ way: Way, next: String) async throws {
        let folder = try TemporaryFolder(), source = folder.path("source")
        try way.makeSource(source)
        let before = try names(folder)
        await #expect(processExitsWith: .signal(SIGKILL)) { [way = way as Way, folder = folder.path as String] in
            guard strongroom_faults_die_at_naming() else { return }
            try way.copy(folder + "/source", to: folder + "/copy")
        }
        #expect(try names(folder).contains("copy-salt") && !names(folder).contains("copy"))
        try way.copy(source, to: folder.path(next))
        #expect(try names(folder) == (before + [next, next + "-salt"]).sorted())
        #expect(try SaltFile.readAll(.permanent, of: folder.path(next)).count == 1)
        #expect(try read(folder.path(next)) == "kept")
    }

    @Test(
        "does not prevent the creation of a database with its name",
        .enabled(if: strongroom_faults_refused_names() >= 0))
    func creation() async throws {
        let folder = try TemporaryFolder(), path = folder.path("copy")
        try Way.encrypt.makeSource(folder.path("source"))
        await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder.path as String] in
            guard strongroom_faults_die_at_naming() else { return }
            try Way.encrypt.copy(folder + "/source", to: folder + "/copy")
        }
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration)
        try await queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES ('new')") }
        try queue.close()
        // The salt that was left is a former one of this database now. A copy sweeps the folder, and leaves it alone.
        let salts = try Data(contentsOf: URL(fileURLWithPath: path + "-salt"))
        try Way.encrypt.copy(folder.path("source"), to: folder.path("another"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-salt")) == salts)
        #expect(try read(path) == "new")
    }

    @Test("takes no salt with it that another database could need")
    func others() throws {
        let folder = try TemporaryFolder(), left = folder.path(".strongroom-partial-00c0ffee")
        try Way.encrypt.makeSource(folder.path("source"))
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data("copy".utf8).write(to: URL(fileURLWithPath: left + "/copy"))
        let salt = SaltFile(salt: try .random(), header: 32)
        for path in [left + "/copy", folder.path("orphan"), folder.path("named"), folder.path("grown")] {
            try salt.write(.permanent, of: path)
        }
        // One whose database has its name, one that another database goes on using, and one of a database that was
        // moved away.
        try Data("orphan".utf8).write(to: URL(fileURLWithPath: left + "/copy-destination"))
        try Data("database".utf8).write(to: URL(fileURLWithPath: folder.path("named")))
        try SaltFile(salt: .random(), header: 32).write(.permanent, of: folder.path("grown"))
        try SaltFile(salt: .random(), header: 32).write(.permanent, of: folder.path("moved"))
        try Way.encrypt.copy(folder.path("source"), to: folder.path("copy"))
        #expect(
            try names(folder) == ["copy", "copy-salt", "grown-salt", "moved-salt", "named", "named-salt", "source"])
    }
}
