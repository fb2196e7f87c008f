import Dispatch
import Foundation

/// The time without accesses after which a database locks itself.
public struct AutoLockDelay: Sendable, Hashable {
    let seconds: TimeInterval

    /// Returns a delay of a number of seconds without an access.
    public static func idle(_ seconds: TimeInterval) -> AutoLockDelay { AutoLockDelay(seconds: seconds) }

    /// Returns a delay of a duration without an access.
    @available(macOS 13, iOS 16, tvOS 16, watchOS 9, *)
    public static func idle(_ duration: Duration) -> AutoLockDelay {
        let (seconds, attoseconds) = duration.components
        return AutoLockDelay(seconds: TimeInterval(seconds) + TimeInterval(attoseconds) / 1e18)
    }
}

/// An event at which a database locks itself.
public struct AutoLockEvent: Sendable, Hashable {
    enum Kind: Hashable {
        case suspension
    }

    let kind: Kind

    /// The suspension of the database, by `suspend()` or by ``Database/suspendNotification``.
    public static let suspension = AutoLockEvent(kind: .suspension)
}

/// A rule by which a database locks itself. It applies until it is cancelled, or the database is closed or
/// released.
public final class AutoLock: Sendable {
    private struct State {
        var stop: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    init(stop: @escaping @Sendable () -> Void) {
        state = Mutex(State(stop: stop))
    }

    deinit {
        cancel()
    }

    var isCancelled: Bool { state.withLock { $0.stop == nil } }

    /// Ends the rule. Does not stop locking that has begun.
    public func cancel() {
        let stop = state.withLock { $0.stop.take() }
        stop?()
    }
}

extension DatabaseLock {
    /// Keeps the rule until the database is closed or released.
    func keep(_ autoLock: AutoLock) -> AutoLock {
        let isKept = state.withLock { state in
            if state.hasEndedAutoLocks { return false }
            state.autoLocks.removeAll(where: \.isCancelled)
            state.autoLocks.append(autoLock)
            return true
        }
        if !isKept { autoLock.cancel() }
        return autoLock
    }

    /// Ends all rules of a database that is closed, and those that are added later.
    func endAutoLocks() {
        let former = state.withLock { state in
            state.hasEndedAutoLocks = true
            defer { state.autoLocks = [] }
            return state.autoLocks
        }
        for autoLock in former { autoLock.cancel() }
    }

    /// Locks the database later, on another thread, unless it is unlocked meanwhile. An error is passed to
    /// ``Database/logError``.
    @Sendable func lockLater() {
        let request: UInt64? = state.withLock { state in
            if state.pendingLock == state.unlockings { return nil }
            state.pendingLock = state.unlockings
            return state.unlockings
        }
        guard let request else { return }
        Workers.shared.run {
            do {
                try self.lock(requestedAt: request)
            } catch {
                self.state.withLock { if $0.pendingLock == request { $0.pendingLock = nil } }
                // A database that is closed has nothing left to lock.
                if (error as? DatabaseError)?.reason == .closed { return self.endAutoLocks() }
                error.logFailedLock()
            }
        }
    }

    /// Locks the database after so many seconds without an access.
    func lock(afterIdle seconds: TimeInterval) -> AutoLock {
        let watch = IdleWatch(limit: seconds)
        let interval = min(max(seconds / 8, 0.01), 15)
        let timer = RecurringWork { [weak self] in
            guard let self else { return nil }
            if watch.isOver(activity, isLocked: isLocked) { lockLater() }
            return .now() + interval
        }
        return keep(AutoLock { timer.cancel() })
    }

    /// Locks the database when it is suspended.
    func lockAtSuspension() -> AutoLock {
        let reaction = writer.addSuspensionReaction { [weak self] in self?.lockLater() }
        return keep(AutoLock { [weak writer] in writer?.removeSuspensionReaction(reaction) })
    }

    /// Locks the database at a notification.
    func lock(at name: Notification.Name, _ center: NotificationCenter) -> AutoLock {
        let observer = NotificationObserver(center, name) { [weak self] in self?.lockLater() }
        return keep(AutoLock { observer.end() })
    }

    /// The use of all connections so far.
    private var activity: Activity {
        let all = livingSnapshots.map(\.activity) + [writer.activity, readers?.activity ?? Activity()]
        return all.reduce(Activity()) { $0 + $1 }
    }
}

/// A look at the use of a database from time to time.
private final class IdleWatch: Sendable {
    private struct State {
        var latest = Activity()
        var uptime = DispatchTime.now()
        var date = Date()
    }

    private let limit: TimeInterval
    private let state = Mutex(State())

    init(limit: TimeInterval) {
        self.limit = limit
    }

    /// Returns true if the database was not used for the time.
    func isOver(_ activity: Activity, isLocked: Bool) -> Bool {
        state.withLock { state in
            let now = DispatchTime.now()
            let passed = TimeInterval(now.uptimeNanoseconds - state.uptime.uptimeNanoseconds) / 1e9
            // The uptime stands still while the machine sleeps, and the date may be changed: the longer time counts.
            let isIdle = activity == state.latest && !activity.isRunning && !isLocked
            if isIdle, max(passed, -state.date.timeIntervalSinceNow) < limit { return false }
            state = State(latest: activity, uptime: now, date: Date())
            return isIdle
        }
    }
}

/// An observer of a notification.
///
/// Sendable because the token is only written by the initializer.
private final class NotificationObserver: @unchecked Sendable {
    private let center: NotificationCenter
    private let token: any NSObjectProtocol

    init(_ center: NotificationCenter, _ name: Notification.Name, _ react: @escaping @Sendable () -> Void) {
        self.center = center
        token = center.addObserver(forName: name, object: nil, queue: nil) { _ in react() }
    }

    func end() {
        center.removeObserver(token)
    }
}
