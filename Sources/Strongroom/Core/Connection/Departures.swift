import CStrongroom

/// What SQLite lets go of when it closes a connection: functions, collations, tokenizers, and whatever they hold of the program's. It may
/// ask for the database when it goes away. So it goes when nobody has access.
final class Departures {
    private var objects: [AnyObject] = []

    /// Runs `body`, which closes a connection inside of an access. What goes with the connection goes after that.
    static func after<T>(_ body: () throws -> T) rethrows -> T {
        if strongroom_departures() != nil { return try body() }
        let departures = Departures()
        defer { withExtendedLifetime(departures) {} }
        strongroom_set_departures(Unmanaged.passUnretained(departures).toOpaque())
        defer { strongroom_set_departures(nil) }
        return try body()
    }

    /// Keeps the object, if something is being closed on the calling thread.
    static func keep(_ object: AnyObject?) {
        guard let object, let departures = strongroom_departures() else { return }
        Unmanaged<Departures>.fromOpaque(departures).takeUnretainedValue().objects.append(object)
    }
}

extension Unmanaged {
    /// Lets go of the object, in the place of SQLite.
    func depart() {
        Departures.keep(takeUnretainedValue())
        release()
    }
}
