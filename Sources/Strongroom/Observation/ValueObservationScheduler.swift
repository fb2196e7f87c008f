import Dispatch
import Foundation

/// A type that runs the notifications of a ``ValueObservation``.
///
/// It runs actions one at a time, in the order in which they are scheduled.
public protocol ValueObservationScheduler: Sendable {
    /// Returns true if the first value is fetched and notified before the observation's start returns.
    func immediateInitialValue() -> Bool

    /// Runs an action later.
    func schedule(_ action: @escaping @Sendable () -> Void)
}

/// A type that notifies the values of a ``ValueObservation`` on the main actor.
public protocol ValueObservationMainActorScheduler: ValueObservationScheduler {
    /// Runs an action on the main actor, later.
    func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void)
}

extension ValueObservationMainActorScheduler {
    /// Runs an action on the main actor, later.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        scheduleOnMainActor { action() }
    }
}

// MARK: - Dispatch queues

/// A scheduler that notifies all values on a dispatch queue.
public struct AsyncValueObservationScheduler: ValueObservationScheduler {
    private let queue: DispatchQueue

    /// Creates a scheduler.
    ///
    /// - parameter queue: a serial queue. On a concurrent one, values could be notified out of order.
    public init(queue: DispatchQueue) {
        self.queue = queue
    }

    /// Returns false: the first value is notified later, too.
    public func immediateInitialValue() -> Bool { false }

    /// Runs an action on the queue, later.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        queue.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == AsyncValueObservationScheduler {
    /// A scheduler that notifies all values on a dispatch queue, which must be serial.
    public static func async(onQueue queue: DispatchQueue) -> AsyncValueObservationScheduler {
        AsyncValueObservationScheduler(queue: queue)
    }
}

// MARK: - Main actor

/// A scheduler that notifies the first value before the observation's start returns, and later ones on the main actor.
public struct ImmediateValueObservationScheduler: ValueObservationMainActorScheduler {
    /// Creates a scheduler.
    public init() {}

    /// Returns true: the first value is notified before the observation's start returns.
    ///
    /// - precondition: the observation starts on the main actor. Otherwise it is a fatal error.
    public func immediateInitialValue() -> Bool {
        guard MainQueue.isCurrent else {
            fatalError(
                """
                A ValueObservation with the immediate scheduler was started outside of the main actor. \
                Start it there, or use another scheduler, such as .async(onQueue:) or .task.
                """)
        }
        return true
    }

    /// Runs an action on the main actor, later.
    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue.main.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == ImmediateValueObservationScheduler {
    /// A scheduler that notifies the first value before the observation's start returns, and later ones on the main
    /// actor.
    ///
    /// It blocks the main thread until the first value is fetched. Observations have to start on the main actor:
    /// otherwise it is a fatal error.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

extension ValueObservationMainActorScheduler where Self == ImmediateValueObservationScheduler {
    /// A scheduler that notifies the first value before the observation's start returns, and later ones on the main
    /// actor.
    public static var immediate: ImmediateValueObservationScheduler { ImmediateValueObservationScheduler() }
}

/// A scheduler that notifies all values on the main actor, later.
public final class DelayedMainActorValueObservationScheduler: ValueObservationMainActorScheduler {
    fileprivate static let shared = DelayedMainActorValueObservationScheduler()

    private init() {}

    /// Returns false: the first value is notified later, too.
    public func immediateInitialValue() -> Bool { false }

    /// Runs an action on the main actor, later.
    public func scheduleOnMainActor(_ action: @escaping @MainActor @Sendable () -> Void) {
        DispatchQueue.main.async(execute: action)
    }
}

extension ValueObservationScheduler where Self == DelayedMainActorValueObservationScheduler {
    /// A scheduler that notifies all values on the main actor, later.
    public static var mainActor: DelayedMainActorValueObservationScheduler { .shared }
}

/// The main queue. On Linux, any thread may serve it when the main thread has called `dispatchMain()`.
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

/// A scheduler that notifies all values from a task of its own, on the cooperative thread pool.
public final class TaskValueObservationScheduler: ValueObservationScheduler {
    private let actions: AsyncStream<@Sendable () -> Void>.Continuation

    fileprivate init(priority: TaskPriority?) {
        let (stream, continuation) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        actions = continuation
        Task(priority: priority) {
            // In one task: several tasks could run out of order.
            for await action in stream { action() }
        }
    }

    deinit {
        actions.finish()
    }

    /// Returns false: the first value is notified later, too.
    public func immediateInitialValue() -> Bool { false }

    /// Runs an action in the task, later.
    public func schedule(_ action: @escaping @Sendable () -> Void) {
        actions.yield(action)
    }
}

extension ValueObservationScheduler where Self == TaskValueObservationScheduler {
    /// A scheduler that notifies all values from a task with the priority of the current one.
    public static var task: TaskValueObservationScheduler { TaskValueObservationScheduler(priority: nil) }

    /// A scheduler that notifies all values from a task with a priority.
    public static func task(priority: TaskPriority) -> TaskValueObservationScheduler {
        TaskValueObservationScheduler(priority: priority)
    }
}
