import Foundation
import StrongroomReplica
import Testing

@Suite("The seal of a restore point")
struct SealTests {
    /// Three restore points, of which the second one has a seal.
    private func sealed() async throws -> Scratch {
        let (scratch, db) = try Scratch.withDatabase(rows: 300)
        let replica = try scratch.replica()
        // The first restore point is of the replica's start, whether a transaction precedes it or not.
        try await replica.sync()
        for _ in 0..<2 {
            try db.insert(10)
            try await replica.sync()
        }
        try await replica.stop()
        for sample in try samples(scratch) where sample.point.position.number == 2 {
            try DatabaseReplica.seal(sample, with: Self.code(of: sample), in: scratch.destination)
        }
        return scratch
    }

    /// In place of an HMAC.
    private static func code(of sample: ReplicaSample) -> [UInt8] { Array(sample.statement.suffix(32)) }

    private func samples(_ scratch: Scratch, count: Int? = nil) throws -> [ReplicaSample] {
        var samples: [ReplicaSample] = []
        try DatabaseReplica.sample(scratch.destination, beside: scratch.path("point"), count: count) {
            samples.append($0)
        }
        return samples
    }

    @Test("is with its restore point in each sample, and its statement is of no other one")
    func sample() async throws {
        let scratch = try await sealed(), found = try samples(scratch, count: 2)
        #expect(found.map(\.point.position.number) == [1, 2, 3])
        #expect(found.map { $0.seal == Self.code(of: $0) } == [false, true, false])
        #expect(Set(found.map(\.statement)).count == 3)
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }

    @Test("is wrong for another restore point, and when it is damaged")
    func wrong() async throws {
        let scratch = try await sealed(), name = try #require(scratch.objects("/seals/").first)
        let other = name.dropLast() + "1"
        try scratch.write(scratch.bytes(name), String(other))
        try scratch.write([1, 2, 3], name)
        for sample in try samples(scratch).prefix(2) { #expect(sample.seal != Self.code(of: sample)) }
    }

    @Test("says that its restore point was cut off with the end")
    func cut() async throws {
        let scratch = try await sealed()
        for name in try scratch.objects("/points/") + scratch.objects("/head") { try scratch.remove(name) }
        let error = #expect(throws: ReplicaError.self) { try samples(scratch) }
        #expect(error?.reason == .behind)
    }

    @Test("goes with its restore point when that is pruned")
    func pruned() async throws {
        let scratch = try await sealed()
        try await scratch.replica { $0.beginsWithFullPoint = true }.stop()
        try DatabaseReplica.prune(scratch.destination, before: .max)
        #expect(try scratch.objects("/seals/").isEmpty)
        #expect(try samples(scratch).count == 1)
    }
}
