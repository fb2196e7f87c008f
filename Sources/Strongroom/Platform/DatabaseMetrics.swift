#if Metrics
import Metrics

/// The figures of a database for swift-metrics.
///
/// Counters and gauges are reported every few seconds, so that an access does not cost more with metrics than without.
/// The durations of waits and observations are reported when they are measured, in nanoseconds.
///
/// The labels begin with `strongroom_`. They contain the kind of an access and the dimensions that the program gives,
/// and no names of tables, no SQL and no values. See <doc:Servers>.
public final class DatabaseMetrics: Sendable {
    private struct Figure: Sendable {
        let counter: Counter
        let value: @Sendable (DatabaseStatistics) -> Int
    }

    private struct Level: Sendable {
        let gauge: Gauge
        let value: @Sendable (DatabaseStatistics) -> Double
    }

    private let database: any DatabaseWriter
    private let interval: Double
    private let figures: [Figure]
    private let levels: [Level]
    private let reported = Mutex(DatabaseStatistics())

    /// Creates the metrics of a database, and begins to report durations.
    ///
    /// - parameters:
    ///   - database: the database. See ``DatabaseWriter/statistics`` for the types that count.
    ///   - dimensions: the dimensions of all metrics, such as the name of the database. Default: none.
    ///   - interval: the seconds between two reports of counters and gauges. Default: 10.
    ///   - factory: the backend. Default: nil, for that of `MetricsSystem`.
    public init(
        _ database: any DatabaseWriter, dimensions: [(String, String)] = [], interval: Double = 10,
        factory: (any MetricsFactory)? = nil
    ) {
        self.database = database
        self.interval = interval
        let maker = Maker(factory: factory ?? MetricsSystem.factory, dimensions: dimensions)
        figures = maker.figures()
        levels = maker.levels()
        database.served?.writer.configuration.tally?.listen(maker.durations())
    }

    /// Reports counters and gauges once.
    public func report() {
        let now = database.statistics
        let former = reported.withLock { reported in
            defer { reported = now }
            return reported
        }
        for figure in figures {
            let added = figure.value(now) - figure.value(former)
            if added > 0 { figure.counter.increment(by: added) }
        }
        for level in levels { level.gauge.record(level.value(now)) }
    }

    /// Reports counters and gauges until the task is cancelled, and once more at the end.
    public func reportUntilCancelled() async {
        while !Task.isCancelled {
            report()
            try? await Task.sleep(nanoseconds: UInt64((interval > 0.01 ? min(interval, 1e9) : 0.01) * 1e9))
        }
        report()
    }

    private struct Maker {
        let factory: any MetricsFactory
        let dimensions: [(String, String)]

        func figures() -> [Figure] {
            [
                figure("accesses_total", ("kind", "read")) { $0.reads.count },
                figure("accesses_total", ("kind", "write")) { $0.writes.count },
                figure("access_waits_total", ("kind", "read")) { $0.reads.waits },
                figure("access_waits_total", ("kind", "write")) { $0.writes.waits },
                figure("access_waits_total", ("kind", "barrier")) { $0.barriers.waits },
                figure("statements_total", ("source", "cache")) { $0.statementsFromCache },
                figure("statements_total", ("source", "compiler")) { $0.statementsCompiled },
                figure("commits_total") { $0.commits },
                figure("checkpoints_total") { $0.checkpoints },
                figure("busy_waits_total") { $0.busyWaits },
                figure("derivations_total") { $0.derivations },
                figure("observation_fetches_total") { $0.observationFetches },
            ]
        }

        func levels() -> [Level] {
            [
                level("readers", ("state", "used")) { Double($0.readersInUse) },
                level("readers", ("state", "open")) { Double($0.readersOpen) },
                level("accesses_waiting") { Double($0.accessesWaiting) },
                level("log_bytes") { Double($0.logSize) },
            ]
        }

        func durations() -> @Sendable (Tally.Measurement) -> Void {
            let waits = Dictionary(
                uniqueKeysWithValues: AccessKind.allCases.map { ($0, timer("access_wait", [("kind", $0.rawValue)])) })
            let fetch = timer("observation_fetch")
            let latency = timer("observation_latency")
            return { measurement in
                switch measurement {
                case .wait(let kind, let duration): waits[kind]?.recordNanoseconds(Int64(clamping: duration))
                case .observationFetch(let duration): fetch.recordNanoseconds(Int64(clamping: duration))
                case .observationLatency(let duration): latency.recordNanoseconds(Int64(clamping: duration))
                }
            }
        }

        private func figure(
            _ name: String, _ own: (String, String)..., value: @escaping @Sendable (DatabaseStatistics) -> Int
        ) -> Figure {
            let counter = Counter(label: "strongroom_" + name, dimensions: dimensions + own, factory: factory)
            return Figure(counter: counter, value: value)
        }

        private func level(
            _ name: String, _ own: (String, String)..., value: @escaping @Sendable (DatabaseStatistics) -> Double
        ) -> Level {
            let gauge = Gauge(label: "strongroom_" + name, dimensions: dimensions + own, factory: factory)
            return Level(gauge: gauge, value: value)
        }

        private func timer(_ name: String, _ own: [(String, String)] = []) -> Timer {
            Timer(label: "strongroom_" + name, dimensions: dimensions + own, factory: factory)
        }
    }
}

#if ServiceLifecycle
import ServiceLifecycle

extension DatabaseMetrics: Service {
    /// Reports counters and gauges until the graceful shutdown of the service group.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.reportUntilCancelled() }
    }
}
#endif
#endif
