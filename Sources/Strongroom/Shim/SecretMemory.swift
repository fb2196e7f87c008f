import CStrongroom

/// Memory for secrets: `strongroom_crypto.h`.
enum SecretMemory {
    /// Returns pages of their own, locked against swapping within the limits of the system and excluded from core
    /// dumps. Nil without memory.
    static func allocate(_ count: Int) -> UnsafeMutableRawPointer? { strongroom_secret_allocate(count) }

    /// Wipes and frees memory. `count` is the requested size.
    static func free(_ bytes: UnsafeMutableRawPointer, _ count: Int) { strongroom_secret_free(bytes, count) }

    /// Overwrites memory. The compiler can't remove the call.
    static func wipe(_ bytes: UnsafeMutableRawBufferPointer) { strongroom_wipe(bytes.baseAddress, bytes.count) }

    /// Returns true if both have the same bytes. Takes constant time for a given size.
    static func isEqual(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, count: Int) -> Bool {
        strongroom_equal(a, b, count)
    }

    /// Prevents core dumps of this process. Returns zero or an errno.
    static func preventCoreDumps() -> CInt { strongroom_prevent_core_dumps() }
}
