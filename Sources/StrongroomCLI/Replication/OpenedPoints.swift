import Strongroom
import StrongroomReplica

/// The restore points that were opened with keys, and what was found.
struct OpenedPoints {
    private(set) var points: [(sample: ReplicaSample, opening: PointKeys.Opening)] = []
    private(set) var problems: [String] = []
    /// The newest position with a seal of the database's key.
    var sealed: ReplicaPosition?

    mutating func add(_ sample: ReplicaSample, _ opening: PointKeys.Opening) {
        let name = "position \(sample.point.position)"
        points.append((sample, opening))
        problems += opening.problems.map { "\(name): \($0)" }
        guard let seal = sample.seal, opening.key != .unknown else { return }
        if let code = opening.code, DatabaseFile.isEqual(code, seal) {
            sealed = sample.point.position
        } else {
            problems.append("\(name): its seal is not by the key of the database, or is of another restore point")
        }
    }

    mutating func add(_ sample: ReplicaSample, _ failure: Failure) {
        problems.append("position \(sample.point.position): \(failure.happened)")
    }

    private func count(_ key: PointKey) -> Int { points.filter { $0.opening.key == key }.count }

    // MARK: Requirements

    func requireNewest(in destination: String) throws {
        guard problems.isEmpty, let newest = points.last, newest.opening.key == .unknown else { return }
        throw Failure(
            .wrongKey, file: destination,
            "no given key opens the newest restore point, position \(newest.sample.point.position); "
                + "\(counted(points.count - count(.unknown), "restore point")) of \(points.count) opened",
            remedy: "Give the key that the database has now, and former ones by --former-passphrase-file")
    }

    func requireSeal(_ position: UInt64, in destination: String) throws {
        guard sealed?.number ?? 0 < position else { return }
        let last = sealed.map { "the last one is of position \($0)" } ?? "there is none"
        throw Failure(
            .tooOld, file: destination,
            "no seal of position \(position) or later is valid: \(last); nothing was written",
            remedy: "Choose no restore point of this replica before you know who removed it")
    }

    // MARK: Output

    var lines: [String] {
        points.map { sample, opening in "position \(sample.point.position): \(Self.text(opening))" }
    }

    private static func text(_ opening: PointKeys.Opening) -> String {
        switch opening.key {
        case .current: "opened with the current key"
        case .former: "opened with a former key, \(opening.source ?? "")"
        case .unknown: "needs another key: give a former one by --former-passphrase-file or --former-raw-key-file"
        case .clear: "is not encrypted"
        }
    }

    var words: String {
        let opened = points.count - count(.unknown), former = count(.former)
        return ", \(opened) opened" + (former > 0 ? ", \(former) of them with former keys" : "")
            + (count(.unknown) > 0 ? ", \(count(.unknown)) with other keys" : "")
            + (sealed.map { ", sealed up to position \($0)" } ?? "")
    }

    var members: [(String, JSON)] {
        [
            ("opened", .count(points.count - count(.unknown))), ("former_keys", .count(count(.former))),
            ("other_keys", .count(count(.unknown))),
            ("sealed", sealed.map { .integer(Int64(clamping: $0.number)) } ?? .null),
            (
                "points",
                .list(
                    points.map { sample, opening in
                        .object([
                            ("position", .integer(Int64(clamping: sample.point.position.number))),
                            ("key", .text(opening.key.rawValue)), ("source", .optional(opening.source)),
                        ])
                    })
            ),
        ]
    }
}
