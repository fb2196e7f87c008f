import CMachine
import Foundation

/// The use of a piece of work.
public struct Usage: Sendable {
    public enum Figure: String, CaseIterable, Sendable {
        case time, peakMemory, processorTime, wakeUps, bytesWritten
    }

    public var figures: [Figure: Double]

    public init(_ figures: [Figure: Double]) {
        self.figures = figures
    }

    /// Nothing, at a moment.
    public static func beginning(at time: Double) -> Usage {
        Usage([.time: time, .processorTime: 0, .wakeUps: 0, .bytesWritten: 0])
    }

    /// Returns the use of the process so far; the time is that of the clock.
    public static func soFar() -> Usage {
        let usage = machine_usage_so_far()
        return Usage([
            .time: now(), .peakMemory: Double(machine_peak_memory()), .processorTime: usage.processor_time,
            .wakeUps: Double(usage.wake_ups), .bytesWritten: Double(usage.bytes_written),
        ])
    }

    /// Returns the use since an earlier moment. The peak of memory is no sum.
    public func since(_ start: Usage) -> Usage {
        Usage(
            Dictionary(
                uniqueKeysWithValues: figures.map { figure, value in
                    (figure, figure == .peakMemory ? value : value - start.figures[figure]!)
                }))
    }
}
