import Foundation

/// A value and the lock that guards it. Wrap a function in a structure: Swift would reabstract it at each access, and
/// keep all conversions.
///
/// The type of that name in Synchronization requires macOS 15. The value is accessed under the lock only, by a pointer,
/// so that Swift has no exclusive access to check. Lock and value are one allocation.
package struct Mutex<Value>: @unchecked Sendable {
    private final class Storage: ManagedBuffer<Value, pthread_mutex_t> {
        deinit {
            withUnsafeMutablePointerToElements { _ = pthread_mutex_destroy($0) }
        }
    }

    private let storage: ManagedBuffer<Value, pthread_mutex_t>

    /// Creates the lock around a value.
    package init(_ value: Value) {
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { _ = pthread_mutex_init($0, nil) }
            return value
        }
    }

    /// Runs `body` with the value while no other thread has it. Not reentrant.
    @inline(__always)
    package func withLock<T>(_ body: (inout Value) throws -> T) rethrows -> T {
        try storage.withUnsafeMutablePointers { value, lock in
            pthread_mutex_lock(lock)
            defer { pthread_mutex_unlock(lock) }
            return try body(&value.pointee)
        }
    }
}
