import Dispatch
import Foundation

/// Runs the notifications of a ``ValueObservation``.
///
/// A type of your own has to run actions one at a time, in the order in which they are scheduled.
public protocol ValueObservationScheduler: Sendable {
    /// Returns true if the first value is fetched and notified before the observation's start returns.
    func immediateInitialValue() -> Bool

    /// Runs an action later.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// Notifies the values of a ``ValueObservation`` on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {
    /// Runs an action on the main actor, later.
    func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void)
}

extension ValueObservationMainActorScheduler {
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        scheduleOnMainActor { action() }
    }
}

// MARK: - Dispatch queues

/// Notifies all values on a dispatch queue.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    private let queue: DispatchQueue

    /// - parameter queue: a serial queue: values would overtake each other on another one.
    public init(queue: DispatchQueue) {
        self.queue = queue
    }

    public func immediateInitialValue() -> Bool { false }

    public func schedule(_ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// Notifies all values on a dispatch queue, which must be serial.
    public static func async(onQueue queue: DispatchQueue) -> AsyncValueObservationScheduler {
        AsyncValueObservationScheduler(queue: queue)
    }
}

// MARK: - Main actor

/// Notifies the first value before the start of the observation returns, and all others on the main actor.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    public init() {}

    /// - precondition: the observation starts on the main actor; anything else is a fatal error.
    public func immediateInitialValue() -> Bool {
        guard MainQueue.isCurrent else {
            fatalError("""
                A ValueObservation with the immediate scheduler was started outside of the main actor. \
                Start it there, or use another scheduler, such as .async(onQueue:) or .task.
                """)
        }
        return true
    }

    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue.main.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// Notifies the first value before the start of the observation returns, and all others on the main actor.
    ///
    /// The first value blocks the main thread until it is fetched. Observations have to start on the main actor:
    /// anything else is a fatal error.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

extension ValueObservationMainActorScheduler where Self == ImmediateValueObservationScheduler {
    /// Notifies the first value before the start of the observation returns, and all others on the main actor.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

/// Notifies all values on the main actor, later.
public final class DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    fileprivate static let shared = DelayedMainActorValueObservationScheduler()

    private init() {}

    public func immediateInitialValue() -> Bool { false }

    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue.main.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// Notifies all values on the main actor, later.
    public static var mainActor: DelayedMainActorValueObservationScheduler { .shared }
}

/// Knows the main queue, which on Linux is served by whatever thread once the main one has given itself up.
private enum MainQueue {
    private static let key: DispatchSpecificKey<Bool> = {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        return key
    }()

    static var isCurrent: Bool {
        Thread.isMainThread || DispatchQueue.getSpecific(key: key) == true
    }
}

// MARK: - Tasks

/// Notifies all values from a task of its own, on the cooperative thread pool.
public final class TaskValueObservationScheduler: ValueObservationScheduler {
    private let actions: AsyncStream<@Sendable () -> Void>.Continuation

    fileprivate init(priority: TaskPriority?) {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        actions = continuation
        Task(priority: priority) {
            // One after the other: tasks of their own would overtake each other.
            for await action in stream { action() }
        }
    }

    deinit {
        actions.finish()
    }

    public func immediateInitialValue() -> Bool { false }

    public func schedule(_ action: @escaping @Sendable () -> Void) {
        actions.yield(action)
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// Notifies all values from a task with the priority of the current one.
    public static var task: TaskValueObservationScheduler { TaskValueObservationScheduler(priority: nil) }

    /// Notifies all values from a task of that priority.
    public static func task(priority: TaskPriority) -> TaskValueObservationScheduler {
        TaskValueObservationScheduler(priority: priority)
    }
}
