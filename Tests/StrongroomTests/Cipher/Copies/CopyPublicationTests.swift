import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A copy that replaces a database with sidecars of its own. At every instant the name leads to a whole one of the two.
@Suite("A copy that replaces a database")
struct CopyPublicationTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case plain, slots, header, both = "slots and header"

        var testDescription: String { rawValue }

        fileprivate var configuration: Configuration {
            var configuration = Configuration()
            let settings = CipherSettings(kdfIterations: 1000)
            configuration.encryption = Encryption(key: .passphrase("first"), settings: settings)
            if self == .slots || self == .both {
                configuration.encryption?.keySlots.creating = NewKeySlot(label: "a", derivation: .cheap)
            }
            if self == .header || self == .both { configuration.encryption?.plaintextHeader = PlaintextHeader() }
            return configuration
        }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func make(_ path: String, _ kind: Kind, _ value: Int) throws {
        let queue = try DatabaseQueue(path: path, configuration: kind.configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (?)", arguments: [value]) }
        try queue.close()
    }

    /// A database `out` with the value 1, and a finished copy in a folder of its own with the value 2.
    private func prepare(_ folder: String, _ former: Kind, _ next: Kind) throws {
        try FileManager.default.createDirectory(atPath: folder + "/work", withIntermediateDirectories: true)
        try Self.make(folder + "/out", former, 1)
        try Self.make(folder + "/work/database", next, 2)
    }

    private static func publish(_ folder: String) throws {
        try DatabaseFile.rename(folder + "/work/database", to: folder + "/out") {
            guard Foundation.rename(folder + "/work/database", folder + "/out") == 0 else {
                throw DatabaseError(message: "can't rename")
            }
        }
    }

    private func value(_ folder: String, readonly: Bool) throws -> Int? {
        var configuration = Kind.plain.configuration
        configuration.readonly = readonly
        let queue = try DatabaseQueue(path: folder + "/out", configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") }
    }

    private func names(_ folder: String) throws -> Set<String> {
        try Set(FileManager.default.contentsOfDirectory(atPath: folder)).subtracting(["work"])
    }

    private static let pairs = Kind.allCases.flatMap { former in Kind.allCases.map { (former, $0) } }

    @Test("has its own slot file and its own salt then", arguments: Self.pairs)
    func whole(_ pair: (Kind, Kind)) throws {
        let path = folder.path("a")
        try prepare(path, pair.0, pair.1)
        try Self.publish(path)
        #expect(try value(path, readonly: false) == 2)
        var expected: Set = ["out"]
        if pair.1 == .slots || pair.1 == .both { expected.insert("out-keys") }
        // A salt file keeps former salts.
        if [pair.0, pair.1].contains(where: { $0 == .header || $0 == .both }) { expected.insert("out-salt") }
        #expect(try names(path) == expected)
    }

    @Test("changes nothing if it can't be renamed", arguments: Self.pairs)
    func failed(_ pair: (Kind, Kind)) throws {
        let path = folder.path("a")
        try prepare(path, pair.0, pair.1)
        let before = try names(path)
        #expect(throws: CancellationError.self) {
            try DatabaseFile.rename(path + "/work/database", to: path + "/out") { throw CancellationError() }
        }
        #expect(try names(path) == before)
        #expect(try value(path, readonly: false) == 1)
    }

    @Test(
        "and is killed leads to a whole database, and the next copy undoes or finishes it",
        .enabled(if: strongroom_faults_operations() >= 0), .timeLimit(.minutes(10)), arguments: Self.pairs)
    func killed(_ pair: (Kind, Kind)) async throws {
        strongroom_faults_cheapen_derivations(true)
        defer { strongroom_faults_cheapen_derivations(false) }
        let model = folder.path("model")
        try prepare(model, pair.0, pair.1)
        let count = try count(model)
        var values: Set<Int?> = []
        for operation in Form.every(6, of: 0..<count, "changes of files in a publication") {
            for isOpenedFirst in [false, true] {
                let path = folder.path("\(operation)-\(isOpenedFirst)")
                try FileManager.default.copyItem(atPath: model, toPath: path)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, operation = operation as Int64] in
                    strongroom_faults_cheapen_derivations(true)
                    strongroom_faults_kill_after(operation)
                    try Self.publish(path)
                }
                let read = try value(path, readonly: true), name = "\(pair) before \(operation)"
                values.insert(read)
                #expect(read == 1 || read == 2, "\(name)")
                // As a program that uses the database before the next copy is made.
                if isOpenedFirst { #expect(try value(path, readonly: false) == read, "\(name), opened") }
                DatabaseFile.settlePublication(of: path + "/work/database", in: path)
                #expect(try value(path, readonly: true) == read, "\(name), settled")
                #expect(try !names(path).contains("out-keys-next"), "\(name)")
                try FileManager.default.removeItem(atPath: path)
            }
        }
        #expect(values.isSubset(of: [1, 2]))
        // The new database has its name before its slot file has.
        if pair.1 == .slots { #expect(values == [1, 2]) }
    }

    private func count(_ model: String) throws -> Int64 {
        let path = folder.path("counted")
        try FileManager.default.copyItem(atPath: model, toPath: path)
        strongroom_faults_kill_after(-1)
        try Self.publish(path)
        return strongroom_faults_operations()
    }

    // MARK: - Folders of several users

    @Test(
        "is not taken from the folder of another user", .enabled(if: geteuid() == 0), arguments: [true, false])
    func planted(isOfAnother: Bool) throws {
        let path = folder.path("a"), left = path + "/.strongroom-partial-00c0ffee"
        try prepare(path, .both, .both)
        let before = try names(path)
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data("copy".utf8).write(to: URL(fileURLWithPath: left + "/copy"))
        for ending in ["-keys", "-salt"] {
            try FileManager.default.copyItem(atPath: path + "/out" + ending, toPath: left + "/copy" + ending)
        }
        // Without a record, or with one that leads out of the folder, nothing is removed by the owner either.
        for record in [nil, "", "out\0", "../a/out", isOfAnother ? "out" : ".."] {
            if let record { try Data(record.utf8).write(to: URL(fileURLWithPath: left + "/copy-destination")) }
            if isOfAnother { try #require(chown(left, 12_345, 12_345) == 0) }
            CopyPublication.settle(isOfAnother ? left + "/none" : left + "/copy", in: path)
            if isOfAnother { DatabaseFile.removeLeftOversOfCopies(in: path) }
            #expect(try names(path).isSuperset(of: before))
        }
        #expect(FileManager.default.fileExists(atPath: left) == true)
    }
}
