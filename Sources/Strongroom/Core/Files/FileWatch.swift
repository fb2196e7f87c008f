/// A watch over the files of one database. It ends when it is cancelled or released.
protocol FileWatch: AnyObject, Sendable {
    func cancel()
}

/// Begins to watch the database file at `path`, the files beside it, and their folder.
///
/// `onEvent` is called on any thread after each event, once for events in quick succession. It does not identify the
/// event. No event is lost: a call follows each change after this function has returned.
typealias FileWatching = @Sendable (_ path: String, _ onEvent: @escaping @Sendable () -> Void) throws -> any FileWatch
