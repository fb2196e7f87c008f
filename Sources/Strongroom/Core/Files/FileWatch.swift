/// A watch over the files of one database, until it is cancelled or goes away.
protocol FileWatch: AnyObject, Sendable {
    func cancel()
}

/// Begins to watch the database file at `path`, the files beside it, and their folder.
///
/// `onEvent` is called on some thread after each event, once for events in quick succession. What happened is not
/// told. No event is lost: a change that comes after this has returned is followed by a call.
typealias FileWatching = @Sendable (_ path: String, _ onEvent: @escaping @Sendable () -> Void) throws -> any FileWatch
