import Foundation
import StrongroomReplica

/// The figures of replicas for monitoring, as a file in Prometheus' text format.
/// <https://prometheus.io/docs/instrumenting/exposition_formats/>
final class ReplicaMetrics: @unchecked Sendable {
    private struct Figures {
        var position: UInt64 = 0
        var seconds = 0.0
        var generation = 0
        var points = 0
        var bytes = 0
        var failures = 0
        var isFailing = false
    }

    private let path: String
    private let lock = NSLock()
    private var figures: [(job: ReplicaJob, figures: Figures)] = []

    init(path: String, _ jobs: [ReplicaJob]) {
        self.path = path
        figures = jobs.map { ($0, Figures()) }
    }

    func note(_ event: ReplicaEvent, _ job: ReplicaJob) {
        lock.withLock {
            let index = figures.firstIndex { $0.job.file == job.file && $0.job.destination == job.destination }
            guard let index else { return }
            switch event {
            case .started, .recovered: figures[index].figures.isFailing = false
            case .durable(let point):
                figures[index].figures.position = point.position.number
                figures[index].figures.seconds = Double(point.milliseconds) / 1000
                figures[index].figures.generation = point.keyGeneration
                figures[index].figures.points += 1
                figures[index].figures.bytes += point.size
                figures[index].figures.isFailing = false
            case .failing:
                figures[index].figures.failures += 1
                figures[index].figures.isFailing = true
            case .stopped(let error): figures[index].figures.isFailing = error != nil
            }
        }
        if case .durable = event { return }
        write()
    }

    /// Replaces the file. What can't be written is reported once.
    func write() {
        do {
            // One at a time, so that the newest figures stay.
            try writing.withLock { try MetricsFile(path).write(lock.withLock { text }) }
        } catch {
            let isFirst = lock.withLock {
                defer { hasFailed = true }
                return !hasFailed
            }
            if isFirst { Console.warning("\(path): the metrics cannot be written; replication goes on.") }
        }
    }

    private let writing = NSLock()
    private var hasFailed = false

    private static let gauges: [(name: String, type: String, help: String, value: @Sendable (Figures) -> String)] = [
        ("position", "gauge", "Position of the newest durable restore point.", { "\($0.position)" }),
        ("time_seconds", "gauge", "Time of the newest durable restore point.", { "\($0.seconds)" }),
        ("key_generation", "gauge", "Key generation of the newest durable restore point.", { "\($0.generation)" }),
        ("failing", "gauge", "1 while the destination or the database can't be used.", { $0.isFailing ? "1" : "0" }),
        ("points_total", "counter", "Restore points stored by this process.", { "\($0.points)" }),
        ("bytes_total", "counter", "Bytes of restore points stored by this process.", { "\($0.bytes)" }),
        ("failures_total", "counter", "Failed attempts of this process.", { "\($0.failures)" }),
    ]

    private var text: String {
        Self.gauges.map { gauge in
            let name = "strongroom_replica_\(gauge.name)"
            let lines = figures.map { job, figures in
                "\(name){database=\"\(Metric.escaped(job.file))\",destination=\"\(Metric.escaped(job.destination))\"} "
                    + gauge.value(figures)
            }
            return (["# HELP \(name) \(gauge.help)", "# TYPE \(name) \(gauge.type)"] + lines).joined(separator: "\n")
        }
        .joined(separator: "\n") + "\n"
    }
}
