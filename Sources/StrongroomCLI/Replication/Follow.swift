import StrongroomReplica

extension Restore {
    /// Restores a database, and goes on with each restore point that arrives, until a signal.
    static func follow(
        _ destination: String, _ out: Place, _ reading: ReplicaReading, _ output: OutputOptions
    ) throws {
        try Interruption.deferred { interruption in
            try replicating {
                try DatabaseReplica.follow(
                    from: destination, to: out.path, reading: reading, until: { interruption.isRequested },
                    failed: { Console.warning("\(destination): \($0)") },
                    report: { point in
                        try? output.done(
                            Self.self, out.name, [("source", .text(destination))] + point.members,
                            text: "\(out.name): position \(point.position), \(ReplicaTime.text(point.milliseconds)).")
                    })
            }
        }
    }
}
