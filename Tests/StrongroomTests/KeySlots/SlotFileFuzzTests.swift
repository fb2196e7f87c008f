import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// `STRONGROOM_FUZZ_CASES` says how many; `scripts/campaign key-slots` does it at length.
@Suite("Slot files that were changed at random")
struct SlotFileFuzzTests {
    private static let count = ProcessInfo.processInfo.environment["STRONGROOM_FUZZ_CASES"].flatMap { Int($0) } ?? 200

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    @Test("open nothing, change no file, and give a reason", .timeLimit(.minutes(60)))
    func fuzz() throws {
        let pool = try makeSlots(path, "first")
        // A recovery code costs no derivation.
        let code = try pool.keySlots().addRecoveryCode().withText { String(decoding: $0, as: UTF8.self) }
        try pool.close()
        let whole = try bytes("-keys"), database = try bytes("")
        var tally: [String: Int] = [:]
        for number in 0..<Self.count {
            var random = SeededGenerator(seed: 20 &* 1_000_003 &+ UInt64(number)), text = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) { text.mutate(using: &random) }
            guard text != whole else { continue }
            try Data(text).write(to: URL(fileURLWithPath: path + "-keys"))
            let error = #expect(throws: DatabaseError.self, "case \(number)") { try value(path, code) }
            tally[error?.reason.map { "\($0)" } ?? "none", default: 0] += 1
            #expect(error?.reason != nil, "case \(number)")
            _ = try DatabaseFile.inspect(path: path)
            #expect(try bytes("-keys") == text && bytes("") == database, "case \(number)")
        }
        try Data(whole).write(to: URL(fileURLWithPath: path + "-keys"))
        #expect(try value(path, code) == 1)
        let sums = tally.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        if Self.count > 200 { print("mutated slot files: \(sums)") }
    }

    private func bytes(_ suffix: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path + suffix)))
    }
}
