import CStrongroom
import Dispatch

// The work of the calling thread, and whether it may begin more: `strongroom_threads.h`.

extension ConnectionHandle {
    /// Adds the connection to the nested accesses of the calling thread, or removes it from them.
    func setNested(_ isNested: Bool) {
        isNested ? strongroom_connection_push(pointer) : strongroom_connection_pop(pointer)
    }

    /// True if the calling thread is inside of an access to the connection, barred or not.
    var isInside: Bool { strongroom_is_inside(pointer) }
}

/// The state of the calling thread.
enum CallingThread {
    /// The number of connections that the thread is setting up, one inside of the other.
    static var nestedSetups: Int { Int(strongroom_nested_setups()) }

    /// Returns true if the thread has access to a connection of a group.
    static func isInside(group: UInt) -> Bool { strongroom_innermost_in_group(group) != nil }

    /// The object that is notifying the thread's observers of a change.
    static var notifier: UnsafeRawPointer? { strongroom_notifier() }

    /// Sets the object that is notifying the thread's observers. Returns the former one.
    static func setNotifier(_ notifier: UnsafeRawPointer?) -> UnsafeRawPointer? { strongroom_set_notifier(notifier) }

    /// The object that holds what SQLite releases on the thread. Nil to release it immediately.
    static var deferredReleases: UnsafeMutableRawPointer? {
        get { strongroom_deferred_releases() }
        set { strongroom_set_deferred_releases(newValue) }
    }
}

/// A thread of the library's own.
enum OwnThread {
    private final class Body {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread that runs `body`. Returns false if the system has no room for it.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let argument = Unmanaged.passRetained(Body(body))
        let error = strongroom_thread_start(
            { Unmanaged<Body>.fromOpaque($0!).takeRetainedValue().run() }, argument.toOpaque())
        if error != 0 { argument.release() }
        return error == 0
    }

    /// Gives the calling thread a quality of service, where the system has one.
    static func set(_ qos: DispatchQoS.QoSClass) {
        let own: strongroom_qos =
            switch qos {
            case .userInteractive, .userInitiated: STRONGROOM_USER_INITIATED
            case .utility: STRONGROOM_UTILITY
            case .background: STRONGROOM_BACKGROUND
            default: STRONGROOM_DEFAULT
            }
        strongroom_thread_set_qos(own)
    }
}

/// The thread of the Swift concurrency pool that one access of the process at a time may borrow.
enum Lane {
    /// Returns true if an access may borrow the thread now. `closedUntil` belongs to the database, and is zero at
    /// first.
    static func enter(_ closedUntil: UnsafeMutablePointer<UInt64>) -> Bool { strongroom_lane_enter(closedUntil) }

    /// Leaves the lane. `nanoseconds` is the duration of the access: one of a millisecond or more closes the lane to
    /// its database for 50 times as long, and for a second at most.
    static func leave(_ closedUntil: UnsafeMutablePointer<UInt64>, after nanoseconds: UInt64) {
        strongroom_lane_leave(closedUntil, nanoseconds)
    }
}

/// The place where a thread waits for work. Another thread gives it the work, and signals it if it sleeps.
///
/// Sendable because its states are atomic, and the rest belongs to the waiting thread.
final class WaitingPlace: @unchecked Sendable {
    private let place = UnsafeMutablePointer<strongroom_wait>.allocate(capacity: 1)

    /// - parameter patience: the time in nanoseconds for which the first ``look()`` may look.
    init(patience: UInt32 = 0) {
        place.initialize(to: strongroom_wait())
        place.pointee.patience = patience
    }

    deinit { place.deallocate() }

    /// Says that the calling thread may soon have more work, because it has served a task that waited. Holds for its
    /// next wait.
    static func expectWork() { strongroom_wait_expect() }

    /// Looks for work for a moment, if the calling thread expects some, work came soon the last time, and no other
    /// thread looks: to wake a thread takes ten times as long as a small read. Returns false if the thread is to sleep
    /// until it is signalled, and to call ``wake(looksAgain:)`` then.
    func look() -> Bool { strongroom_wait_look(place) }

    /// The number of waits in which the thread looked. Readable from any thread.
    var lookCount: Int { Int(strongroom_wait_looks(place)) }

    /// - parameter looksAgain: false if the next ``look()`` is to return immediately.
    func wake(looksAgain: Bool) { strongroom_wait_woken(place, looksAgain) }

    /// Says that there is work. Returns true if the thread sleeps, and must be signalled.
    func end() -> Bool { strongroom_wait_end(place) }
}
