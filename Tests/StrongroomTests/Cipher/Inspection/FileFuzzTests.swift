import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// `STRONGROOM_FUZZ_CASES` says how many, `STRONGROOM_FUZZ_SEED` and `STRONGROOM_FUZZ_FIRST` which;
/// `scripts/campaign files` does it at length.
///
/// A seed says what is changed and done. SQLCipher's own random bytes differ each time.
@Suite("Sidecars, headers and logs that were changed at random")
struct FileFuzzTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let count = environment["STRONGROOM_FUZZ_CASES"].flatMap { Int($0) } ?? 300
    private static let seed = environment["STRONGROOM_FUZZ_SEED"].flatMap { UInt64($0) } ?? 13
    private static let first = environment["STRONGROOM_FUZZ_FIRST"].flatMap { Int($0) } ?? 0
    private static let batch = 250

    @Test(
        "crash nothing, hang nothing, and stay as they are where they are only read", .timeLimit(.minutes(60)),
        arguments: Array(stride(from: first, to: first + count, by: batch)))
    func fuzz(_ first: Int) async throws {
        let folder = try TemporaryFolder(), last = min(first + Self.batch, Self.first + Self.count), seed = Self.seed
        // In a process of its own, which may crash.
        await #expect(processExitsWith: .success) {
            [path = folder.path as String, first = first as Int, last = last as Int, seed = seed as UInt64] in
            try FileFuzzer(folder: path, seed: seed).run(first..<last)
        }
        let tally = (try? String(contentsOfFile: folder.path("tally"), encoding: .utf8)) ?? "nothing was run"
        #expect(tally.hasPrefix("done "), "\(tally)")
        if Self.environment["STRONGROOM_FUZZ_CASES"] != nil {
            print("cases \(first)..<\(last) of seed \(seed): \(tally)")
        }
    }
}

/// Makes databases, changes their files, and uses them in all ways.
private final class FileFuzzer {
    private let folder: String
    private let seed: UInt64
    private var bases: [DatabaseFiles] = []
    private var tally: [String: Int] = [:]

    private static let keys = [
        Data(repeating: 1, count: 32), Data(repeating: 2, count: 32), Data(repeating: 3, count: 32),
    ]

    private var path: String { folder + "/db.sqlite" }

    init(folder: String, seed: UInt64) throws {
        self.folder = folder
        self.seed = seed
        for header in [nil, 32, 96] {
            bases.append(try base(header: header, hasLog: false, isRotated: false))
            bases.append(try base(header: header, hasLog: true, isRotated: false))
            bases.append(try base(header: header, hasLog: true, isRotated: true))
        }
    }

    func run(_ numbers: Range<Int>) throws {
        for number in numbers {
            note("case \(number) of seed \(seed) ended the process")
            // A hang ends it, too.
            alarm(30)
            var random = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(number))
            do {
                try run(using: &random)
            } catch {
                note("case \(number) of seed \(seed): \(error)")
                exit(EXIT_FAILURE)
            }
        }
        note("done " + tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
    }

    private func note(_ text: String) {
        _ = FileManager.default.createFile(atPath: folder + "/tally", contents: Data(text.utf8))
    }

    // MARK: - Databases

    /// A small database as a program that was killed leaves it, with or without a log.
    private func base(header: Int?, hasLog: Bool, isRotated: Bool) throws -> DatabaseFiles {
        try remove()
        let queue = try open(0, readonly: false, header.map { PlaintextHeader(size: $0) })
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for number in 1...20 {
                try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [number, Data(count: 300)])
            }
        }
        guard hasLog else {
            try queue.close()
            return try files()
        }
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "UPDATE t SET b = randomblob(200) WHERE a % 3 = 0")
        }
        // A reader keeps the log where it is.
        let reader = try open(0, readonly: true, nil)
        try reader.inDatabase { db in
            try db.execute(sql: "BEGIN; SELECT count(*) FROM t")
            if isRotated { try queue.rotateKey(to: .rawKey(Self.keys[1])) }
            try db.execute(sql: "COMMIT")
        }
        defer {
            try? reader.close()
            try? queue.close()
        }
        return try files().filter { !$0.key.hasSuffix("-shm") }
    }

    private func open(_ key: Int, readonly: Bool, _ header: PlaintextHeader?) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: try .rawKey(Self.keys[key]), settings: CipherSettings(pageSize: 1024), plaintextHeader: header)
        configuration.readonly = readonly
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    private func files() throws -> DatabaseFiles {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("db.sqlite") }
        return try Dictionary(
            uniqueKeysWithValues: names.map { name in
                (
                    String(name.dropFirst("db.sqlite".count)),
                    try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
                )
            })
    }

    private func remove() throws {
        for end in try files().keys { try FileManager.default.removeItem(atPath: path + end) }
    }

    // MARK: - One case

    private func run(using random: inout SeededGenerator) throws {
        var changed = bases.randomElement(using: &random)!
        FileMutation.mutate(&changed, others: bases, using: &random)
        try remove()
        for (end, bytes) in changed { try bytes.write(to: URL(fileURLWithPath: path + end)) }
        let provided = PlaintextHeader(salt: .provided([UInt8](1...16)))
        let header = [nil, nil, PlaintextHeader(), provided].randomElement(using: &random)!
        let key = Int.random(in: 0...1, using: &random), rotates = header != provided && Bool.random(using: &random)

        try attempt("inspected") { _ = try DatabaseFile.inspect(path: path) }
        try attempt("read") { try read(key, header) }
        // Readers write shared memory, too.
        let found = try files().filter { $0.key != "-shm" && (changed[$0.key] != nil || $0.key != "-wal") }
        let expected = changed.filter { $0.key != "-shm" }
        guard found == expected else { throw Finding(what: "reading changed \(difference(found, expected))") }
        try attempt("written") { try write(key, header) }
        guard rotates, try attempt("rotated", { try rotate(key, header) }) else { return }
        // A rotated database opens with the new key alone.
        try open(2, readonly: false, nil).close()
    }

    private struct Finding: Error {
        let what: String
    }

    private func difference(_ found: DatabaseFiles, _ expected: DatabaseFiles) -> String {
        let ends = Set(found.keys).union(expected.keys).filter { found[$0] != expected[$0] }
        return ends.map { "db.sqlite" + $0 }.joined(separator: ", ")
    }

    /// A refusal is as good as success, a crash or a hang isn't.
    @discardableResult
    private func attempt(_ what: String, _ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            tally[what, default: 0] += 1
            return true
        } catch is DatabaseError {
            tally["not \(what)", default: 0] += 1
            return false
        }
    }

    private func read(_ key: Int, _ header: PlaintextHeader?) throws {
        let queue = try open(key, readonly: true, header)
        defer { try? queue.close() }
        _ = try queue.checkIntegrity()
        _ = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM t") }
    }

    private func write(_ key: Int, _ header: PlaintextHeader?) throws {
        let queue = try open(key, readonly: false, header)
        defer { try? queue.close() }
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b)")
            try db.execute(sql: "INSERT INTO t(b) VALUES (zeroblob(2000))")
        }
    }

    private func rotate(_ key: Int, _ header: PlaintextHeader?) throws {
        let queue = try open(key, readonly: false, header)
        defer { try? queue.close() }
        try queue.rotateKey(to: .rawKey(Self.keys[2]))
    }
}
