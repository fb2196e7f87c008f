import CStrongroom

/// The objects that SQLite releases when it closes a connection: functions, collations, tokenizers, and whatever they
/// hold of the program's. It may ask for the database when it goes away. So it goes when nobody has access.
final class DeferredReleases {
    private var objects: [AnyObject] = []

    /// Runs `body`, which closes a connection inside of an access. What goes with the connection goes after that.
    static func after<T>(_ body: () throws -> T) rethrows -> T {
        if strongroom_deferred_releases() != nil { return try body() }
        let releases = DeferredReleases()
        defer { withExtendedLifetime(releases) {} }
        strongroom_set_deferred_releases(Unmanaged.passUnretained(releases).toOpaque())
        defer { strongroom_set_deferred_releases(nil) }
        return try body()
    }

    /// Keeps the object, if something is being closed on the calling thread.
    static func keep(_ object: AnyObject?) {
        guard let object, let releases = strongroom_deferred_releases() else { return }
        Unmanaged<DeferredReleases>.fromOpaque(releases).takeUnretainedValue().objects.append(object)
    }
}

extension Unmanaged {
    /// Releases the object in the place of SQLite.
    func releaseLater() {
        DeferredReleases.keep(takeUnretainedValue())
        release()
    }
}
