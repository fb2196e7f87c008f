/// A lock with a condition. Its waits end by the monotonic clock: one that is set back prolongs none.
final class Monitor: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        // Neither fails with these arguments.
        pthread_mutex_init(mutex, nil)
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
    func broadcast() { pthread_cond_broadcast(condition) }

    /// Waits for a broadcast. The lock must be held.
    func wait() { pthread_cond_wait(condition, mutex) }

    /// Waits for a broadcast, or until the time is over. The lock must be held.
    func wait(milliseconds: Int64) {
        let duration = max(0, milliseconds)
        #if canImport(Darwin)
        var time = timespec(tv_sec: Int(duration / 1000), tv_nsec: Int(duration % 1000) * 1_000_000)
        pthread_cond_timedwait_relative_np(condition, mutex, &time)
        #else
        let end = steadyMilliseconds() + duration
        var time = timespec(tv_sec: Int(end / 1000), tv_nsec: Int(end % 1000) * 1_000_000)
        pthread_cond_timedwait(condition, mutex, &time)
        #endif
    }
}

/// The time of a clock that is never set, in milliseconds since an unknown moment.
func steadyMilliseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
