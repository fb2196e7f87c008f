import CSQLCipher

// Functions that SQLite calls: `sqlite3.h`. The context is passed to each call. All functions with a result return a
// result code.

extension RawConnection {
    typealias Context = UnsafeMutableRawPointer

    /// <https://www.sqlite.org/c3ref/set_authorizer.html>
    func setAuthorizer(
        _ authorize:
            @escaping @convention(c) (
                Context?, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
                UnsafePointer<CChar>?
            ) -> CInt,
        _ context: Context
    ) -> CInt {
        sqlite3_set_authorizer(pointer, authorize, context)
    }

    /// <https://www.sqlite.org/c3ref/busy_handler.html>
    func setBusyHandler(_ handler: (@convention(c) (Context?, CInt) -> CInt)?, _ context: Context?) -> CInt {
        sqlite3_busy_handler(pointer, handler, context)
    }

    /// <https://www.sqlite.org/c3ref/commit_hook.html>
    func setTransactionHooks(
        willCommit: (@convention(c) (Context?) -> CInt)?, didRollBack: (@convention(c) (Context?) -> Void)?,
        _ context: Context?
    ) {
        sqlite3_commit_hook(pointer, willCommit, context)
        sqlite3_rollback_hook(pointer, didRollBack, context)
    }

    /// <https://www.sqlite.org/c3ref/update_hook.html>
    func setUpdateHook(
        _ hook:
            (@convention(c) (Context?, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?, sqlite3_int64) -> Void)?,
        _ context: Context?
    ) {
        sqlite3_update_hook(pointer, hook, context)
    }

    /// <https://www.sqlite.org/c3ref/trace_v2.html>
    func setTrace(
        _ events: UInt32, _ trace: (@convention(c) (UInt32, Context?, Context?, Context?) -> CInt)?,
        _ context: Context?
    ) -> CInt {
        sqlite3_trace_v2(pointer, events, trace, context)
    }

    // MARK: - Functions and collations

    typealias Function = @convention(c) (OpaquePointer?, CInt, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// <https://www.sqlite.org/c3ref/create_function.html>
    func addFunction(
        _ name: String, _ argumentCount: CInt, isPure: Bool, _ context: Context,
        call: Function? = nil, step: Function? = nil, finalize: (@convention(c) (OpaquePointer?) -> Void)? = nil,
        release: @escaping @convention(c) (Context?) -> Void
    ) -> CInt {
        let flags = SQLITE_UTF8 | (isPure ? SQLITE_DETERMINISTIC : 0)
        return sqlite3_create_function_v2(pointer, name, argumentCount, flags, context, call, step, finalize, release)
    }

    func removeFunction(_ name: String, _ argumentCount: CInt) -> CInt {
        sqlite3_create_function_v2(pointer, name, argumentCount, SQLITE_UTF8, nil, nil, nil, nil, nil)
    }

    /// SQLite does not release the context of a refused collation, unlike that of a function.
    /// <https://www.sqlite.org/c3ref/create_collation.html>
    func addCollation(
        _ name: String, _ context: Context,
        compare: @escaping @convention(c) (Context?, CInt, UnsafeRawPointer?, CInt, UnsafeRawPointer?) -> CInt,
        release: @escaping @convention(c) (Context?) -> Void
    ) -> CInt {
        sqlite3_create_collation_v2(pointer, name, SQLITE_UTF8, context, compare, release)
    }

    func removeCollation(_ name: String) -> CInt {
        sqlite3_create_collation_v2(pointer, name, SQLITE_UTF8, nil, nil, nil)
    }
}
