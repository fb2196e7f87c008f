import Foundation

/// The work of this process that a suspension reaches: the connections of queues and pools, those that the library
/// opens for its own work, and the lock of an opening. There is no other list.
///
/// Members are suspended by the notifications if their configuration wants it, and with the queue or pool to which they
/// belong. A member that comes during a suspension begins suspended.
final class Suspensions: Sendable {
    static let shared = Suspensions()

    static let suspendName = Notification.Name("Strongroom.Database.suspend")
    static let resumeName = Notification.Name("Strongroom.Database.resume")

    /// The connections of one queue or pool, by the keys that they share.
    typealias Family = ObjectIdentifier

    struct Member: Sendable {
        /// True if the notifications apply.
        let followsNotifications: Bool
        var family: Family?
        var suspend: @Sendable () -> Void = {}
        var resume: @Sendable () -> Void = {}

        /// True while the member holds a lock that keeps others out.
        let holdsLock: @Sendable () -> Bool
    }

    private struct State {
        var isSuspended = false
        var suspendedFamilies: Set<Family> = []
        var members: [ObjectIdentifier: Member] = [:]
    }

    // A copy is the same lock, around the same value.
    private let state: Mutex<State>
    private let notifications: SuspensionNotifications

    private init() {
        let state = Mutex(State())
        self.state = state
        notifications = SuspensionNotifications(
            onSuspend: {
                let members = Self.set(state, true)
                for member in members { member.suspend() }
            },
            onResume: {
                let members = Self.set(state, false)
                for member in members { member.resume() }
            })
    }

    private static func set(_ state: Mutex<State>, _ isSuspended: Bool) -> [Member] {
        state.withLock { state in
            state.isSuspended = isSuspended
            return state.members.values.filter(\.followsNotifications)
        }
    }

    /// Adds a member until it is removed. Suspends it if it comes during a suspension.
    func add(_ member: Member, for owner: ObjectIdentifier) {
        state.withLock { $0.members[owner] = member }
        // Again, until nothing has changed meanwhile.
        var isSuspended = false
        while mustSuspend(member) != isSuspended {
            isSuspended.toggle()
            isSuspended ? member.suspend() : member.resume()
        }
    }

    private func mustSuspend(_ member: Member) -> Bool {
        state.withLock { state in
            state.isSuspended && member.followsNotifications
                || member.family.map(state.suspendedFamilies.contains) == true
        }
    }

    func remove(_ owner: ObjectIdentifier) {
        // Releasing the functions may release a connection: not under the lock.
        let former = state.withLock { $0.members.removeValue(forKey: owner) }
        withExtendedLifetime(former) {}
    }

    /// Suspends or resumes the other members of a queue or pool.
    func set(_ family: Family, isSuspended: Bool, by owner: ObjectIdentifier) {
        let others = state.withLock { state in
            if isSuspended { state.suspendedFamilies.insert(family) } else { state.suspendedFamilies.remove(family) }
            return state.members.filter { $0.key != owner && $0.value.family == family }.map(\.value)
        }
        for other in others { isSuspended ? other.suspend() : other.resume() }
    }

    /// True while the notifications suspend.
    var isSuspended: Bool { state.withLock { $0.isSuspended } }

    /// True if a member that follows the notifications holds a lock that keeps others out.
    var isLockHeld: Bool {
        let members = state.withLock { $0.members.values.filter(\.followsNotifications) }
        return members.contains { $0.holdsLock() }
    }
}

/// The membership of a connection that the library opens for its own work.
final class SuspendedWork: Sendable {
    private let connection: Mutex<ConnectionHandle?>

    /// - parameters:
    ///   - isStoppable: false for work that ends by itself: only its locks count.
    ///   - family: the object that stands for the queue or pool that suspends it.
    init(_ database: Database, isStoppable: Bool, family: AnyObject?) {
        // A copy is the same lock, around the same value. A notification that comes after the end finds nothing.
        let shared = Mutex<ConnectionHandle?>(database.connection)
        connection = shared
        let configuration = database.configuration
        var member = Suspensions.Member(
            followsNotifications: configuration.observesSuspensionNotifications,
            holdsLock: { shared.withLock { $0?.holdsLock } == true })
        if isStoppable {
            member.family = family.map(ObjectIdentifier.init)
            member.suspend = { shared.withLock { $0?.suspend(interrupts: true) } }
            member.resume = { shared.withLock { $0?.resume() } }
        }
        Suspensions.shared.add(member, for: ObjectIdentifier(self))
    }

    func end() {
        Suspensions.shared.remove(ObjectIdentifier(self))
        connection.withLock { $0 = nil }
    }
}
