import CSQLCipher
import CStrongroom

// Functions that SQLite calls, their arguments and results: `sqlite3.h` and `strongroom_calls.h`.

/// The call of a function that is written in Swift. <https://www.sqlite.org/c3ref/context.html>
struct FunctionContext {
    let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) {
        self.pointer = pointer
    }

    /// The context that the function was registered with.
    var registration: UnsafeMutableRawPointer? { sqlite3_user_data(pointer) }

    /// Returns memory that SQLite keeps for a group of rows. Nil if there is none, or no memory is available.
    /// <https://www.sqlite.org/c3ref/aggregate_context.html>
    func groupMemory(size: Int) -> UnsafeMutableRawPointer? { sqlite3_aggregate_context(pointer, CInt(size)) }

    // MARK: - Results. <https://www.sqlite.org/c3ref/result_blob.html>

    func returnNull() { sqlite3_result_null(pointer) }
    func `return`(_ value: Int64) { sqlite3_result_int64(pointer, value) }
    func `return`(_ value: Double) { sqlite3_result_double(pointer, value) }

    /// Returns UTF-8, including NUL. The bytes are copied.
    func `return`(text: UnsafeBufferPointer<UInt8>) {
        text.withMemoryRebound(to: CChar.self) {
            // An empty buffer may have no address. SQLite would return NULL then.
            guard let start = $0.baseAddress else { return strongroom_result_text(pointer, "", 0) }
            strongroom_result_text(pointer, start, Int64($0.count))
        }
    }

    func `return`(blob: UnsafeRawBufferPointer) {
        strongroom_result_blob(pointer, blob.baseAddress, Int64(blob.count))
    }

    /// Fails with a message. Nil for `SQLITE_ERROR`.
    func fail(_ message: String, code: CInt?) {
        sqlite3_result_error(pointer, message, -1)
        // After the message, which sets a code, too.
        if let code { sqlite3_result_error_code(pointer, code) }
    }

    /// Fails with `SQLITE_NOMEM`.
    func failWithoutMemory() { sqlite3_result_error_nomem(pointer) }
}

/// An argument of a function. <https://www.sqlite.org/c3ref/value_blob.html>
struct SQLiteArgument {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// The storage class. Read it before the value, because reading the value may convert it.
    var kind: StatementColumn.Kind { StatementColumn.Kind(sqliteType: sqlite3_value_type(pointer)) }

    var int64: Int64 { sqlite3_value_int64(pointer) }

    var double: Double { sqlite3_value_double(pointer) }

    /// SQLite's own bytes of a text, which are valid during the call.
    var text: UnsafeBufferPointer<UInt8> {
        // The text before the size: the other order may convert twice.
        let text = sqlite3_value_text(pointer)
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(pointer)))
    }

    /// SQLite's own bytes of a blob.
    var blob: UnsafeRawBufferPointer {
        let bytes = sqlite3_value_blob(pointer)
        return UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(pointer)))
    }
}
