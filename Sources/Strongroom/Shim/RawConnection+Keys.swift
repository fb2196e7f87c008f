import CSQLCipher
import CStrongroom

// Keys for SQLCipher: `strongroom_keys.h`. All functions return a result code.

extension RawConnection {
    /// Calls `sqlite3_key_v2` with sufficient memory, or returns `SQLITE_NOMEM`.
    func setKey(_ spec: UnsafeRawBufferPointer, of schema: String) -> CInt {
        strongroom_key(pointer, schema, spec.baseAddress, CInt(spec.count))
    }

    /// Runs `ATTACH` with the key as an argument, so that it is neither part of the SQL nor copied.
    func attach(_ path: String, as schema: String, key spec: UnsafeRawBufferPointer) -> CInt {
        strongroom_attach(pointer, path, schema, spec.baseAddress, CInt(spec.count))
    }
}

/// SQLCipher's defaults, which belong to the process: any code in it can change them.
enum CipherDefaults {
    /// Gives keys that are set in this process SQLCipher 4's format until ``release()``, whatever defaults other code
    /// has set. After a failure nothing is held, and no key may be set.
    static func hold() -> CInt { strongroom_defaults_hold() }

    /// Ends a hold. The last one restores the defaults of other code, unless it has set others meanwhile.
    static func release() { strongroom_defaults_release() }

    /// Runs SQL on a connection in memory, whose key keeps SQLCipher's settings of the process alive. The first call
    /// runs it before that key as well.
    static func execute(_ sql: String) -> CInt { strongroom_defaults_execute(sql) }

    /// Makes SQLCipher's allocations likely to succeed, of which it checks only some. Returns false without memory.
    static func makeRoomForKey() -> Bool { strongroom_can_take_key() }
}
