import CMachine
import Foundation

/// The command line that the programs share: ITEM SIZE FILE TURN. They print the check and then the values of the
/// item's measures.
public struct Call: Sendable {
    public let item: Item
    public let size: Int
    public let path: String
    /// The number of times that this file was worked on before, for work that changes it for good.
    public let turn: Int

    public init() {
        let words = CommandLine.arguments
        guard words.count == 5, let item = Item(rawValue: words[1]), let size = Int(words[2]), let turn = Int(words[4])
        else {
            fatalError("usage: \(words[0]) ITEM SIZE FILE TURN")
        }
        self.item = item
        self.size = size
        self.path = words[3]
        self.turn = turn
    }

    /// The file that the item needs, among those that `BenchC prepare` made.
    public static func file(_ item: Item, size: Int, in folder: String) -> String {
        switch item {
        case .openPassphrase, .openFiveThreads: folder + "/passphrase.sqlite"
        case .openKeySpec: folder + "/derived.sqlite"
        case .rotation: folder + "/rotation-\(size).sqlite"
        default: folder + "/bench.sqlite"
        }
    }

    public var oldRotationKey: String { Workload.rotationKeys[turn % 2] }
    public var newRotationKey: String { Workload.rotationKeys[(turn + 1) % 2] }

    public func report(_ outcome: Outcome) {
        print(([String(outcome.check)] + outcome.values.map { String($0) }).joined(separator: " "))
    }
}

/// The result of the work, and its cost.
public struct Outcome: Sendable {
    public let check: Int64
    public let values: [Double]

    public init(check: Int64, values: [Double]) {
        self.check = check
        self.values = values
    }

    /// The time that `work` takes.
    public static func timing(_ work: () throws -> Int64) rethrows -> Outcome {
        let start = now()
        let check = try work()
        return Outcome(check: check, values: [now() - start])
    }

    /// The time that a part of the work takes each time it is done `count` times, and that of the other part.
    public static func timing(
        count: Int, _ first: () throws -> Int64, then second: () throws -> Void
    ) rethrows -> Outcome {
        var check: Int64 = 0
        var firstTime = 0.0, secondTime = 0.0
        for _ in 0..<count {
            let start = now()
            check += try first()
            let middle = now()
            try second()
            firstTime += middle - start
            secondTime += now() - middle
        }
        return Outcome(check: check, values: [firstTime / Double(count), secondTime / Double(count)])
    }

    /// Measures observed work against unobserved work, in alternation; the halves of each turn change places so that
    /// a machine that slows down or speeds up favours none. `prepare` makes all turns alike, outside of the measured
    /// time, as does all that `observed` does beside the work that it is given the clock for.
    public static func comparing(
        prepare: () throws -> Void, plain: () throws -> Int64,
        observed: (_ measure: (() throws -> Int64) throws -> Int64) throws -> Int64
    ) throws -> Outcome {
        // Once for nothing: the first time is never like the others.
        try prepare()
        _ = try plain()
        var check: Int64 = 0
        var plainTime = Double.infinity, observedTime = Double.infinity
        for turn in 0..<2 * Workload.turns {
            try prepare()
            // 0 1 1 0 0 1 1 0 …
            if (turn + 1) / 2 % 2 == 0 {
                let start = now()
                check += try plain()
                plainTime = min(plainTime, now() - start)
            } else {
                check += try observed { work in
                    let start = now()
                    let check = try work()
                    observedTime = min(observedTime, now() - start)
                    return check
                }
            }
        }
        return Outcome(check: check, values: [observedTime / plainTime])
    }

    /// The most memory of this process, once the work is done.
    public static func memory(check: Int64) -> Outcome {
        Outcome(check: check, values: [Double(machine_peak_memory())])
    }
}

/// Seconds of a steady clock.
public func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
