import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Several programs create one database, each in its own way. The one that writes the first page wins.
@Suite("Creations of one database that meet", .timeLimit(.minutes(2)))
struct MeetingCreationTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("db.sqlite") }

    init() throws { folder = try TemporaryFolder() }

    /// A way to create a database.
    enum Way: String, CaseIterable {
        case slots, slotsWithHeader, passphrase, header, otherSettings, managed, saltedKey

        func configuration(_ store: MemoryKeyStore) throws -> Configuration {
            var configuration = Configuration()
            switch self {
            case .slots, .slotsWithHeader: configuration = .slots("secret of \(self)", creating: true)
            case .passphrase, .header:
                configuration.encryption = Encryption(
                    key: .passphrase("secret of \(self)"), settings: CipherSettings(kdfIterations: 1000))
            case .otherSettings:
                configuration.encryption = Encryption(
                    key: .passphrase("secret of \(self)"), settings: CipherSettings(pageSize: 8192, kdfIterations: 500))
            case .managed: configuration.encryption = Encryption(key: .managed(by: store))
            case .saltedKey: configuration.encryption = Encryption(key: try .rawKey(2...33, salt: Array(1...16)))
            }
            if self == .header || self == .slotsWithHeader {
                configuration.encryption?.plaintextHeader = PlaintextHeader()
            }
            configuration.busyMode = .timeout(10)
            return configuration
        }

        var hasSlots: Bool { self == .slots || self == .slotsWithHeader }
    }

    struct Pair: Sendable, CustomTestStringConvertible {
        let first: Way, second: Way, firstWrites: Bool
        var testDescription: String { "\(first), \(second); the \(firstWrites ? "first" : "second") writes" }
    }

    static let pairs = Way.allCases.flatMap { first in
        Way.allCases.filter { $0 != first }.flatMap { second in
            [true, false].map { Pair(first: first, second: second, firstWrites: $0) }
        }
    }

    private func create(_ queue: DatabaseQueue) throws {
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
    }

    @Test("leave a database that the winner opens, and no file of the loser", arguments: pairs)
    func pair(_ pair: Pair) throws {
        let store = MemoryKeyStore()
        let first = try DatabaseQueue(path: path, configuration: pair.first.configuration(store))
        // A slot file that is there is the second one's, too, or is refused.
        guard let second = try? DatabaseQueue(path: path, configuration: pair.second.configuration(store)) else {
            #expect(pair.first.hasSlots)
            return
        }
        let (winner, loser) = pair.firstWrites ? (first, second) : (second, first)
        let way = pair.firstWrites ? pair.first : pair.second
        try create(winner)
        #expect(throws: DatabaseError.self) { try create(loser) }
        try loser.close()
        try winner.close()
        let opened = try DatabaseQueue(path: path, configuration: way.configuration(store))
        #expect(try opened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try opened.close()
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        #expect(names.contains("db.sqlite-keys") == way.hasSlots)
        #expect(names.contains("db.sqlite-salt") == (way == .header || way == .slotsWithHeader))
        #expect(!names.contains("db.sqlite-salt-new"))
        // The key that a loser has made opens nothing.
        #expect(store.entries == (way == .managed ? [.current] : []))
    }

    @Test("leave the key of a store that opens the database, whichever connection made the key")
    func sharedStore() throws {
        let store = MemoryKeyStore()
        let maker = try DatabaseQueue(path: path, configuration: .managed(by: store))
        let other = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try create(other)
        try? create(maker)
        try maker.close()
        try other.close()
        #expect(store.entries == [.current])
        #expect(try #require(try rowCount(path, .managed(by: store))) >= 1)
    }

    @Test("with slots and without: the loser's slot file is gone when the loser was killed", arguments: [false, true])
    func killedLoser(hasHeader: Bool) throws {
        let without = try DatabaseQueue(path: path, configuration: .encrypted())
        let way = hasHeader ? Way.slotsWithHeader : .slots
        let killed = try DatabaseQueue(path: path, configuration: way.configuration(MemoryKeyStore()))
        #expect(FileManager.default.fileExists(atPath: path + "-keys"))
        try create(without)
        try without.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-keys"))
        #expect(try rowCount(path, .encrypted()) == 1)
        _ = killed
    }

    @Test("with slots and without one after the other: an opening that wrote nothing leaves nothing that is in the way")
    func leftSalt() throws {
        try DatabaseQueue(path: path, configuration: .encrypted()).close()
        try create(DatabaseQueue(path: path, configuration: .slots("first", creating: true)))
        #expect(try value(path, "first") == 1)
    }

    @Test("with slots, during whose unlocking another creation ends, make no slot file")
    func createdMeanwhile() throws {
        let path = path
        var configuration = Configuration.slots("", creating: true)
        configuration.encryption?.key = .passphrase(from: {
            let queue = try DatabaseQueue(path: path, configuration: .slots("secret"))
            try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
            try queue.close()
            return Array("secret".utf8)
        })
        configuration.encryption?.keySlots.creating = NewKeySlot(label: "late", derivation: .cheap)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        try queue.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-keys"))
    }

    // The other ways hold a lock while they read the size: a creation on this thread would wait for itself.
    @Test(
        "that end while an opening reads the size of the file are seen by it",
        arguments: [Way.passphrase, .header, .saltedKey], [false, true])
    func duringOpening(way: Way, isPool: Bool) throws {
        strongroom_faults_install()
        var created = 0
        for number in 0... {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), store = MemoryKeyStore()
            var configuration = try way.configuration(store)
            configuration.busyMode = .immediateError
            let creation = Shared(Result<Void, any Error>?.none), settings = configuration
            atSizeRead(number, of: path) {
                let result = Result { try create(DatabaseQueue(path: path, configuration: settings)) }
                creation.update { $0 = result }
            }
            let opened: any DatabaseWriter =
                try isPool
                ? DatabasePool(path: path, configuration: configuration)
                : DatabaseQueue(path: path, configuration: configuration)
            guard let result = creation.value else {
                // The appointment would outlive the test.
                while creation.value == nil { _ = try opened.read { try $0.fileSize() } }
                break
            }
            // The opening may hold a lock there.
            guard case .success = result else { continue }
            created += 1
            #expect(try opened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1, "at reading \(number)")
            try opened.close()
        }
        #expect(created > 3)
    }

    /// Calls `act` when the size of the file is read, after `number` former readings.
    private func atSizeRead(_ number: Int, of path: String, _ act: @escaping @Sendable () -> Void) {
        at(STRONGROOM_MOMENT_SIZE_READ, path) { number == 0 ? act() : atSizeRead(number - 1, of: path, act) }
    }

    @Test("do not touch a slot file that was there before")
    func earlierSlotFile() throws {
        let other = folder.path("other.sqlite")
        try makeSlots(other, "first").close()
        try FileManager.default.moveItem(atPath: other + "-keys", toPath: path + "-keys")
        try create(DatabaseQueue(path: path, configuration: .raw(Array(1...32))))
        #expect(FileManager.default.fileExists(atPath: path + "-keys"))
    }
}
