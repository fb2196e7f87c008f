import Foundation
import StrongroomReplica
import Testing

/// Changes by a person who can write to the destination.
@Suite("A restore from a destination that was changed")
struct ForgeryTests {
    /// A history of five points. With a rotation, the second generation of the key begins with the fourth.
    private func history(rotating: Bool = true) async throws -> (scratch: Scratch, signer: ReplicaSigner) {
        let scratch = try Scratch()
        var db = try Connection(scratch.database)
        try db.createTables()
        try db.insert(200)
        let replica = try scratch.replica()
        try await replica.sync()
        for round in 1...4 {
            if round == 3, rotating {
                try db.rekey(Connection.otherKey)
                db = try Connection(scratch.database, key: Connection.otherKey)
            } else {
                try db.insert(10)
            }
            try await replica.sync()
        }
        try await replica.stop()
        return (scratch, replica.signer)
    }

    private func restore(_ scratch: Scratch, signer: ReplicaSigner? = nil, atLeast: UInt64? = nil) throws {
        try DatabaseReplica.restore(
            from: scratch.destination, to: scratch.path("restored.db"), atLeast: atLeast.map { ReplicaPosition($0) },
            reading: ReplicaReading(signer: signer))
    }

    private func expect(
        _ reason: ReplicaError.Reason, _ scratch: Scratch, signer: ReplicaSigner? = nil, atLeast: UInt64? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let error = #expect(throws: ReplicaError.self, sourceLocation: location) {
            try restore(scratch, signer: signer, atLeast: atLeast)
        }
        #expect(error?.reason == reason, "\(String(describing: error))", sourceLocation: location)
        let left = try FileManager.default.contentsOfDirectory(atPath: scratch.folder)
        #expect(!left.contains { $0.hasPrefix("restored") || $0.contains("partial") }, sourceLocation: location)
    }

    @Test("succeeds when nothing was changed, for each point, and a check proves each")
    func control() async throws {
        let (scratch, signer) = try await history()
        try restore(scratch, signer: signer, atLeast: 5)
        #expect(try scratch.restoredRows(.position(ReplicaPosition(3))) == ["220", "220"])
        let verification = try DatabaseReplica.verify(scratch.destination)
        #expect(verification.problems.isEmpty)
        #expect(verification.provedCount == 5)
    }

    @Test("refuses a flipped bit anywhere in a point")
    func bits() async throws {
        let (scratch, signer) = try await history(rotating: false)
        for name in try scratch.objects("/points/") + scratch.objects("/full/") {
            let original = try scratch.bytes(name)
            for offset in stride(from: 0, to: original.count, by: max(1, original.count / 12)) {
                var changed = original
                changed[offset] ^= 1 << Int.random(in: 0..<8)
                try scratch.write(changed, name)
                #expect(throws: ReplicaError.self) { try restore(scratch, signer: signer) }
                #expect(try !DatabaseReplica.verify(scratch.destination).problems.isEmpty)
            }
            try scratch.write(original, name)
        }
        try restore(scratch, signer: signer)
    }

    @Test("refuses an authentic page of another point in place of the right one")
    func mixed() async throws {
        let (scratch, _) = try await history(rotating: false)
        let names = try scratch.objects("/points/")
        var new = try scratch.bytes(names[1])
        // The last page of both: the same number, each with its own HMAC.
        new.replaceSubrange(new.count - 4096..<new.count, with: try scratch.bytes(names[0]).suffix(4096))
        try scratch.write(new, names[1])
        try expect(.damaged, scratch)
    }

    @Test("refuses a history whose middle is missing, and names the position")
    func omitted() async throws {
        let (scratch, signer) = try await history(rotating: false)
        try scratch.remove(scratch.objects("/points/")[1])
        try expect(.damaged, scratch, signer: signer)
        #expect(try !DatabaseReplica.verify(scratch.destination).problems.isEmpty)
        #expect(try scratch.restoredRows(.position(ReplicaPosition(2))) == ["210", "210"])
    }

    @Test("refuses an old point under the name of a new position")
    func replayed() async throws {
        let (scratch, signer) = try await history()
        let names = try scratch.objects("/points/")
        let last = names.last!, digits = "0000000000000006"
        let renamed = last.replacingOccurrences(of: "0000000000000005", with: digits)
        #expect(renamed != last)
        try scratch.write(scratch.bytes(last), renamed)
        try expect(.damaged, scratch, signer: signer)
    }

    @Test("notices by the heartbeat or by the position that the end was cut off")
    func cut() async throws {
        let (scratch, signer) = try await history()
        try scratch.remove(scratch.objects("/points/").last!)
        try expect(.behind, scratch, signer: signer)
        #expect(try DatabaseReplica.verify(scratch.destination).problems.map(\.reason) == [.behind])
        try scratch.remove(scratch.objects("/head")[0])
        try expect(.behind, scratch, signer: signer, atLeast: 5)
        // What is left can be chosen.
        _ = try scratch.restoredRows(.position(ReplicaPosition(4)), key: Connection.otherKey)
        // From inside the destination, nothing shows it.
        try restore(scratch, signer: signer)
    }

    @Test("accepts an older heartbeat, and no other one")
    func heartbeat() async throws {
        let (scratch, signer) = try await history()
        let other = try await history(), name = try scratch.objects("/head")[0]
        try scratch.write(other.scratch.bytes(other.scratch.objects("/head")[0]), name)
        try restore(scratch, signer: signer, atLeast: 5)
    }

    @Test("says how many restore points are missing after the one that a time chooses, before a full one")
    func missing() async throws {
        let (scratch, _) = try await history()
        let points = try DatabaseReplica.histories(in: scratch.destination)[0].points
        for position in 2...3 {
            try scratch.remove(scratch.objects("/points/").first { $0.contains("/000000000000000\(position).") }!)
        }
        let restored = try DatabaseReplica.restore(
            from: scratch.destination, to: scratch.path("restored.db"), target: .time(points[2].milliseconds))
        #expect(restored.position == points[0].position)
        #expect(restored.missingAfter == 2)
        let verification = try DatabaseReplica.verify(scratch.destination)
        #expect(verification.missing == [2...3])
        #expect(verification.problems.isEmpty)
    }

    @Test("with the stolen key of the replicator is noticed where restore points are opened with the database's key")
    func stolenKey() async throws {
        let (scratch, _) = try await history(rotating: false)
        // The thief has the whole state of the replicator, and another database.
        let other = try Connection(scratch.path("other.db"), key: Connection.otherKey)
        try other.createTables()
        try other.insert(10)
        let folder = scratch.database + "-replica"
        try FileManager.default.copyItem(atPath: folder, toPath: scratch.path("other.db-replica"))
        let forger = try DatabaseReplica(path: scratch.path("other.db"), to: scratch.destination)
        forger.start()
        try await forger.stop()
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
        var opened: [UInt64] = []
        try DatabaseReplica.sample(scratch.destination, beside: scratch.path("point")) { sample in
            if (try? StockShell(path: sample.path).rows()) != nil { opened.append(sample.point.position.number) }
        }
        #expect(opened == [1, 2, 3, 4, 5])
    }

    @Test("ignores what another key signed if the key is given")
    func foreign() async throws {
        let (scratch, signer) = try await history()
        let forger = try Scratch(), db = try Connection(forger.database)
        try db.createTables()
        let forged = try DatabaseReplica(path: forger.database, to: scratch.destination)
        forged.start()
        try await forged.stop()
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 2)
        try restore(scratch, signer: signer)
        #expect(try StockShell(path: scratch.path("restored.db"), key: Connection.otherKey).rows() == ["230", "230"])
        // Without a key, the newest history is chosen.
        #expect(try scratch.restoredRows() == ["0", "0"])
    }

    @Test("refuses to choose between two points with the same position")
    func forked() async throws {
        let (scratch, signer) = try await history()
        let last = try #require(try scratch.objects("/points/").last)
        let other = String(last.dropLast(32)) + String(repeating: "0", count: 32)
        try scratch.write(scratch.bytes(last), other)
        try expect(.forked, scratch, signer: signer)
        #expect(try DatabaseReplica.verify(scratch.destination).problems.contains { $0.reason == .forked })
        #expect(try scratch.restoredRows(.position(ReplicaPosition(3))) == ["220", "220"])
    }

    @Test(
        "refuses a file that is in the way, and files that would be applied to it", arguments: ["", "-wal", "-journal"])
    func existing(suffix: String) async throws {
        let (scratch, signer) = try await history()
        let file = URL(fileURLWithPath: scratch.path("other.db" + suffix))
        try Data("mine".utf8).write(to: file)
        let error = #expect(throws: ReplicaError.self) {
            try DatabaseReplica.restore(
                from: scratch.destination, to: scratch.path("other.db"), reading: ReplicaReading(signer: signer))
        }
        #expect(error?.reason == .exists)
        #expect(try Data(contentsOf: file) == Data("mine".utf8))
    }

    @Test("finds nothing of a former key after that was forgotten, and all that came later")
    func forgotten() async throws {
        let (scratch, signer) = try await history()
        #expect(try DatabaseReplica.forgetFormerGenerations(scratch.destination, isDryRun: true) == 3)
        #expect(try DatabaseReplica.forgetFormerGenerations(scratch.destination) == 3)
        #expect(try DatabaseReplica.histories(in: scratch.destination)[0].points.map(\.keyGeneration) == [2, 2])
        for position in 4...5 {
            let target = RestoreTarget.position(ReplicaPosition(UInt64(position)))
            _ = try scratch.restoredRows(target, key: Connection.otherKey)
        }
        #expect(throws: (any Error).self) { try scratch.restoredRows(.position(ReplicaPosition(3))) }
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
        try restore(scratch, signer: signer, atLeast: 5)
    }

    @Test("succeeds for each time that pruning keeps")
    func pruned() async throws {
        let (scratch, _) = try await history()
        let points = try DatabaseReplica.histories(in: scratch.destination)[0].points
        // The fourth point is full: the rotation wrote all pages.
        #expect(try DatabaseReplica.prune(scratch.destination, before: points[2].milliseconds) == 0)
        #expect(try DatabaseReplica.prune(scratch.destination, before: points[4].milliseconds) == 3)
        for point in points[3...] {
            let rows = try scratch.restoredRows(.time(point.milliseconds), key: Connection.otherKey)
            #expect(rows == (point == points[3] ? ["220", "220"] : ["230", "230"]))
        }
    }
}
