import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A salvage")
struct SalvageTests {
    @Test("of a healthy database gives one with the same dump", arguments: [false, true])
    func healthy(usesLog: Bool) throws {
        let model = try SalvageModel.shared(usesLog: usesLog), folder = try model.copy(),
            copy = folder.path("copy.sqlite")
        let salvaged = try Salvaged(folder.path(model.name), to: copy)
        #expect(salvaged.report.isComplete, "\(salvaged.report)")
        #expect(salvaged.report.damagedPages.isEmpty)
        let dumps = try [folder.path(model.name), copy].map {
            try StockShell(path: $0, keying: SalvageModel.keying).lines(".dump")
        }
        #expect(dumps[0].count > 1000)
        #expect(dumps[0] == dumps[1])
    }

    @Test(
        "saves each row of authentic pages, and invents none",
        arguments: SalvageDamage.allCases.filter { !$0.isOfLog })
    func damages(kind: SalvageDamage) throws {
        let model = try SalvageModel.shared(usesLog: false)
        for seed in 0..<(Form.isWhole ? 120 : 4) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let folder = try model.copy()
            let damaged = try kind.act(on: folder, model.name, pageSize: SalvageModel.pageSize, using: &random)
            let before = try folder.bytes(model.name)
            let salvaged = try Salvaged(folder.path(model.name), to: folder.path("copy.sqlite"))
            salvaged.check(against: model.ledger, damaged: damaged, "\(kind) \(seed)")
            #expect(try folder.bytes(model.name) == before)
            #expect(try folder.names() == ["copy.sqlite", model.name])
        }
    }

    @Test("of a damaged log mixes no commits", arguments: SalvageDamage.allCases)
    func logs(kind: SalvageDamage) throws {
        let model = try SalvageModel.shared(usesLog: true)
        for seed in 0..<(Form.isWhole ? 50 : 3) as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let folder = try model.copy()
            _ = try kind.act(on: folder, model.name, pageSize: SalvageModel.pageSize, using: &random)
            let salvaged = try Salvaged(folder.path(model.name), to: folder.path("copy.sqlite"))
            salvaged.check(against: model.ledger, damaged: nil, "\(kind) \(seed)")
        }
    }

    @Test("needs no page 1 if the salt is known")
    func withoutFirstPage() throws {
        let model = try SalvageModel.shared(usesLog: false), folder = try model.copy()
        var bytes = [UInt8](try folder.bytes(model.name))
        bytes.replaceSubrange(0..<SalvageModel.pageSize, with: repeatElement(0, count: SalvageModel.pageSize))
        try folder.write(bytes, to: model.name)
        // The page size is found, too.
        let encryption = Encryption(key: SalvageModel.key)
        let salvaged = try Salvaged(folder.path(model.name), to: folder.path("copy.sqlite"), encryption)
        salvaged.check(against: model.ledger, damaged: [1], "without page 1")
        #expect(salvaged.report.damagedPages.first == SalvageReport.Page(number: 1, content: .schema))
    }

    @Test("names the damaged pages and the rows that they had")
    func report() throws {
        let model = try SalvageModel.shared(usesLog: false), folder = try model.copy()
        let row = try #require(model.ledger.rows.last { $0.table == "twin" })
        let page = try #require(row.pages.first)
        try folder.damage(model.name, at: (page - 1) * SalvageModel.pageSize + 300)
        let report = try Salvaged(folder.path(model.name), to: folder.path("copy.sqlite")).report
        let table = try #require(report.tables.first { $0.name == "twin" })
        let range = try #require(table.unknownRanges.first)
        #expect(table.missing == 1 && !report.isComplete)
        #expect(range.after.map { $0 < row.rowID } == true && range.through.map { $0 >= row.rowID } ?? true)
        #expect(report.damagedPages == [.init(number: page, content: .table(name: "twin", rows: range))])
        let damage = try DatabaseFile.damage(path: folder.path(model.name), encryption: SalvageModel.encryption)
        #expect(damage.damagedPages == report.damagedPages)
    }

    @Test("builds a full-text index again from its content")
    func fullText() throws {
        let model = try SalvageModel.shared(usesLog: false), folder = try model.copy()
        let key = SalvageModel.configuration()
        let page = try #require(model.ledger.rows.last { $0.table == "page_data" }?.pages.first)
        try folder.damage(model.name, at: (page - 1) * SalvageModel.pageSize + 300)
        let copy = folder.path("copy.sqlite")
        let report = try DatabaseFile.salvage(
            path: folder.path(model.name), to: copy, encryption: SalvageModel.encryption)
        #expect(report.problems.map(\.kind) == [.rebuilt])
        // Nothing is missing from what was built again.
        #expect(report.isComplete && report.tables.allSatisfy { $0.missing == 0 && $0.unknownRanges.isEmpty })
        let found = try DatabaseQueue(path: copy, configuration: key).read {
            try Int.fetchAll($0, sql: "SELECT rowid FROM page WHERE page MATCH 'number17'")
        }
        #expect(found == [17])
    }

    @Test("opens with the exported data key where the slot file is gone")
    func dataKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .slots("secret", creating: true))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)") }
        let data = try queue.read { try $0.cipher.key!.source.withSecret { $0.withBytes { Array($0) } } }
        try queue.close()
        let bySlot = try DatabaseFile.salvage(
            path: path, to: folder.path("slot.sqlite"), encryption: Encryption(key: .passphrase("secret")))
        #expect(bySlot.tables.map(\.saved) == [2])
        try FileManager.default.removeItem(atPath: path + "-keys")
        let byKey = try DatabaseFile.salvage(
            path: path, to: folder.path("key.sqlite"), encryption: Encryption(key: .rawKey(data)))
        #expect(byKey.isComplete && byKey.tables.map(\.saved) == [2])
    }

    @Test("reads the formats of SQLCipher 1 to 3", arguments: [1, 2, 3])
    func formats(version: Int) throws {
        let settings = try #require(CipherSettings.formats.first { $0.version == version }?.settings)
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let encryption = Encryption(key: .passphrase("secret"), settings: settings)
        let queue = try DatabaseQueue(path: path, configuration: SalvageModel.configuration(encryption))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)") }
        try queue.close()
        let report = try DatabaseFile.salvage(path: path, to: folder.path("copy.sqlite"), encryption: encryption)
        #expect(report.tables.map(\.saved) == [2] && report.isComplete)
        #expect(report.isAuthenticated == (version > 1))
    }

    @Test("refuses a wrong key, an existing file and a salt that is nowhere, and leaves no file")
    func refusals() throws {
        let model = try SalvageModel.shared(usesLog: false), folder = try model.copy(), path = folder.path(model.name)
        func reason(_ key: DatabaseKey, to name: String = "copy.sqlite") -> DatabaseError.Reason? {
            do {
                try DatabaseFile.salvage(path: path, to: folder.path(name), encryption: Encryption(key: key))
                return nil
            } catch { return (error as? DatabaseError)?.reason }
        }
        #expect(reason(try .rawKey([UInt8](repeating: 1, count: 32))) == .wrongKey)
        #expect(reason(SalvageModel.key, to: model.name) == .fileExists)
        try folder.write(
            [UInt8](repeating: 0, count: 4096) + (try folder.bytes(model.name)).dropFirst(4096), to: model.name)
        #expect(reason(try .rawKey([UInt8](repeating: 7, count: 32))) == .missingSalt)
        #expect(try folder.names() == [model.name])
    }

    @Test("stops when its progress throws, and leaves no file")
    func stopped() throws {
        let model = try SalvageModel.shared(usesLog: false), folder = try model.copy()
        for phase in [EncryptionProgress.Phase.checking, .writing] {
            #expect(throws: CancellationError.self) {
                try DatabaseFile.salvage(
                    path: folder.path(model.name), to: folder.path("copy.sqlite"), encryption: SalvageModel.encryption
                ) { if $0.phase == phase { throw CancellationError() } }
            }
            #expect(try folder.names() == [model.name])
        }
    }
}

@Suite("A salvage of a file in clear text")
struct ClearSalvageTests {
    private static let model = Result { () -> Data in
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"))
        try queue.writeWithoutTransaction { try $0.execute(sql: SalvageModel.schema + SalvageModel.rows) }
        try queue.close()
        return try folder.bytes("db.sqlite")
    }

    private let encryption = Encryption(key: SalvageModel.key)

    @Test("saves everything, and says that nothing was authenticated")
    func healthy() throws {
        let folder = try TemporaryFolder()
        try folder.write(try Self.model.get(), to: "db.sqlite")
        let report = try DatabaseFile.salvage(
            path: folder.path("db.sqlite"), to: folder.path("copy.sqlite"), encryption: encryption)
        #expect(report.isComplete && !report.isAuthenticated)
        #expect(report.tables.first { $0.name == "author" }?.saved == 400)
    }

    /// `STRONGROOM_FUZZ_CASES` says how many; `scripts/campaign files` does it at length.
    private static let mutated =
        ProcessInfo.processInfo.environment["STRONGROOM_FUZZ_CASES"].flatMap(UInt64.init) ?? (Form.isWhole ? 1000 : 200)

    @Test("ends after any change of bytes")
    func mutations() throws {
        let model = [UInt8](try Self.model.get()), folder = try TemporaryFolder()
        for seed in 0..<Self.mutated {
            var random = SeededGenerator(seed: seed), bytes = model
            for _ in 0..<Int.random(in: 1...30, using: &random) {
                // Headers of pages and their cells are worth more than content.
                let page = Int.random(in: 0..<bytes.count / 4096, using: &random) * 4096
                let at = page + Int.random(in: 0..<(Bool.random(using: &random) ? 64 : 4096), using: &random)
                bytes[at] = [0, 1, 2, 5, 10, 13, 127, 255, UInt8.random(in: 0...255, using: &random)].randomElement(
                    using: &random)!
            }
            if seed % 7 == 0 { bytes.removeSubrange(Int.random(in: 0..<bytes.count, using: &random)...) }
            try folder.write(bytes, to: "db.sqlite")
            _ = try? DatabaseFile.damage(path: folder.path("db.sqlite"), encryption: nil)
            // Writing takes longer than reading.
            guard seed % 10 == 0 else { continue }
            _ = try? DatabaseFile.salvage(
                path: folder.path("db.sqlite"), to: folder.path("copy.sqlite"), encryption: encryption)
            try? FileManager.default.removeItem(atPath: folder.path("copy.sqlite"))
        }
    }

    @Test("keeps tables apart whose names look alike, or differ in the case of other letters than A to Z")
    func namesThatLookAlike() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"),
            names = ["\u{e9}", "e\u{301}", "\u{c9}", "\u{301}x", "a\"b"]
        let queue = try DatabaseQueue(path: path, configuration: SalvageModel.configuration(SalvageModel.encryption))
        try queue.write { db in
            for (number, name) in names.enumerated() {
                let table = name.quotedDatabaseIdentifier
                try db.execute(sql: "CREATE TABLE \(table)(a); INSERT INTO \(table) VALUES (\(number))")
            }
        }
        try queue.close()
        let copy = folder.path("copy.sqlite")
        let report = try DatabaseFile.salvage(path: path, to: copy, encryption: SalvageModel.encryption)
        #expect(report.isComplete, "\(report)")
        #expect(report.tables.map(\.saved) == [1, 1, 1, 1, 1])
        let salvaged = try DatabaseQueue(path: copy, configuration: SalvageModel.configuration(SalvageModel.encryption))
        for (number, name) in names.enumerated() {
            let sql = "SELECT a FROM \(name.quotedDatabaseIdentifier)"
            #expect(try salvaged.read { try Int.fetchAll($0, sql: sql) } == [number], "\(report)")
        }
        try salvaged.close()
    }

    @Test("builds a full-text table again, also one whose name contains a word of SQL")
    func housing() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), encryption = SalvageModel.encryption
        let queue = try DatabaseQueue(path: path, configuration: SalvageModel.configuration(encryption))
        let page = try queue.write { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE housing USING FTS5(a)")
            for _ in 0..<100 { try db.execute(sql: "INSERT INTO housing VALUES ('a word')") }
            return try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = 'housing_data'")!
        }
        try queue.close()
        try folder.damage("db.sqlite", at: (page - 1) * SalvageModel.pageSize + 300)
        let copy = folder.path("copy.sqlite")
        let report = try DatabaseFile.salvage(path: path, to: copy, encryption: encryption)
        #expect(report.problems.contains { $0.name == "housing" && $0.kind == .rebuilt }, "\(report)")
        let salvaged = try DatabaseQueue(path: copy, configuration: SalvageModel.configuration(encryption))
        let sql = "SELECT count(*) FROM housing WHERE housing MATCH 'word'"
        #expect(try salvaged.read { try Int.fetchOne($0, sql: sql) } == 100)
        try salvaged.close()
    }
}
