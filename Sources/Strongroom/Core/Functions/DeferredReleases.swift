/// The objects that SQLite releases when it closes a connection: functions, collations, tokenizers, and objects of the
/// program that they hold. Releasing them may use the database, so they are released outside of any access.
final class DeferredReleases {
    private var objects: [AnyObject] = []

    /// Runs `body`, which closes a connection inside of an access. Objects of the connection are released after that.
    static func after<T>(_ body: () throws -> T) rethrows -> T {
        if CallingThread.deferredReleases != nil { return try body() }
        let releases = DeferredReleases()
        defer { withExtendedLifetime(releases) {} }
        CallingThread.deferredReleases = Unmanaged.passUnretained(releases).toOpaque()
        defer { CallingThread.deferredReleases = nil }
        return try body()
    }

    /// Holds the object, if a connection is being closed on the calling thread.
    static func keep(_ object: AnyObject?) {
        guard let object, let releases = CallingThread.deferredReleases else { return }
        Unmanaged<DeferredReleases>.fromOpaque(releases).takeUnretainedValue().objects.append(object)
    }
}

extension Unmanaged {
    /// Releases the object instead of SQLite, now or after the access.
    func releaseLater() {
        DeferredReleases.keep(takeUnretainedValue())
        release()
    }
}
