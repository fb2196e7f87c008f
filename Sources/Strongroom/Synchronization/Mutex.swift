import Foundation

/// A value and the lock that guards it. Wrap a function in a structure: Swift would reabstract it at each access, and
/// keep all conversions.
///
/// The type of that name in Synchronization requires macOS 15. The value is accessed under the lock only, by a pointer,
/// so that Swift has no exclusive access to check. Lock and value are one allocation. The lock is its header, whose
/// address a thread takes before it has the lock: Swift and ThreadSanitizer count that as an access.
package struct Mutex<Value>: @unchecked Sendable {
    private final class Storage: ManagedBuffer<pthread_mutex_t, Value> {
        deinit {
            _ = withUnsafeMutablePointers { lock, value in
                value.deinitialize(count: 1)
                return pthread_mutex_destroy(lock)
            }
        }
    }

    private let storage: ManagedBuffer<pthread_mutex_t, Value>

    /// Creates the lock around a value.
    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { _ in pthread_mutex_t() }
        storage.withUnsafeMutablePointers { lock, content in
            pthread_mutex_init(lock, nil)
            content.initialize(to: value)
        }
    }

    /// Runs `body` with the value while no other thread has it. Not reentrant.
    @inline(__always)
    package func withLock<T>(_ body: (inout Value) throws -> T) rethrows -> T {
        try storage.withUnsafeMutablePointers { lock, value in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }

    /// Runs `body` with the value, unless another thread has it. Returns nil then.
    package func withLockIfAvailable<T>(_ body: (inout Value) throws -> T) rethrows -> T? {
        try storage.withUnsafeMutablePointers { lock, value in
            guard pthread_mutex_trylock(lock) == 0 else { return nil }
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
}
