import Foundation

/// The functions that are called for the events of an observation.
struct ObservationEvents: Sendable {
    var willStart: [@Sendable () -> Void] = []
    var willTrackRegion: [@Sendable (DatabaseRegion) -> Void] = []
    var databaseDidChange: [@Sendable () -> Void] = []
    var didFail: [@Sendable (any Error) -> Void] = []
    var didCancel: [@Sendable () -> Void] = []
}

extension ValueObservation {
    /// Returns an observation of transformed values. `transform` runs outside of the access, and not on the main
    /// thread.
    public func map<T: Sendable>(_ transform: @escaping @Sendable (Reducer.Value) throws -> T)
        -> ValueObservation<ValueReducers.Map<Reducer, T>>
    {
        let makeReducer = makeReducer
        return reducing { ValueReducers.Map(base: makeReducer(), transform: transform) }
    }

    /// Returns an observation of the values that differ from the one before.
    public func removeDuplicates() -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>>
    where Reducer.Value: Equatable {
        removeDuplicates(by: ==)
    }

    /// Returns an observation of the values that are not duplicates.
    ///
    /// - parameter predicate: called with the former value and the new one. Returns true if the new one is a duplicate.
    public func removeDuplicates(by predicate: sending @escaping (Reducer.Value, Reducer.Value) -> Bool)
        -> ValueObservation<ValueReducers.RemoveDuplicates<Reducer>>
    {
        let makeReducer = makeReducer
        let predicate = Exclusive(Predicate(isDuplicate: predicate))
        return reducing {
            ValueReducers.RemoveDuplicates(base: makeReducer()) { old, new in
                predicate.use { $0.isDuplicate(old, new) }
            }
        }
    }

    /// Returns an observation that calls functions at its events, on any thread.
    ///
    /// - parameter willStart: called when an observation starts.
    /// - parameter willFetch: called before a value is fetched.
    /// - parameter willTrackRegion: called with the region, when the observation begins to track it.
    /// - parameter databaseDidChange: called when a transaction has changed the region.
    /// - parameter didReceiveValue: called before a value is notified.
    /// - parameter didFail: called when an error has ended the observation.
    /// - parameter didCancel: called when the observation is cancelled.
    public func handleEvents(
        willStart: (@Sendable () -> Void)? = nil, willFetch: (@Sendable () -> Void)? = nil,
        willTrackRegion: (@Sendable (DatabaseRegion) -> Void)? = nil, databaseDidChange: (@Sendable () -> Void)? = nil,
        didReceiveValue: (@Sendable (Reducer.Value) -> Void)? = nil, didFail: (@Sendable (any Error) -> Void)? = nil,
        didCancel: (@Sendable () -> Void)? = nil
    ) -> ValueObservation<ValueReducers.Trace<Reducer>> {
        let makeReducer = makeReducer
        var observation = reducing {
            ValueReducers.Trace(
                base: makeReducer(), willFetch: willFetch ?? {}, didReceiveValue: didReceiveValue ?? { _ in })
        }
        if let willStart { observation.events.willStart.append(willStart) }
        if let willTrackRegion { observation.events.willTrackRegion.append(willTrackRegion) }
        if let databaseDidChange { observation.events.databaseDidChange.append(databaseDidChange) }
        if let didFail { observation.events.didFail.append(didFail) }
        if let didCancel { observation.events.didCancel.append(didCancel) }
        return observation
    }

    /// Returns an observation that writes a line for each event, with values, for debugging.
    ///
    /// With a ``DatabaseQueue``, the line of the first value comes before that of any change.
    ///
    /// - parameter prefix: the beginning of each line.
    /// - parameter stream: the stream, which gets each line in one call, without a line break. Default: the standard
    ///   output.
    public func print(_ prefix: String = "", to stream: sending (any TextOutputStream)? = nil)
        -> ValueObservation<ValueReducers.Trace<Reducer>>
    {
        let start = prefix.isEmpty ? "" : prefix + ": "
        let output = Exclusive(stream)
        let write = { @Sendable (line: String) in
            output.use { stream in
                if stream == nil { return Swift.print(start + line) }
                stream?.write(start + line)
            }
        }
        let traced = handleEvents(
            willStart: { write("start") },
            willFetch: { write("fetch") },
            willTrackRegion: { write("tracked region: \($0)") },
            databaseDidChange: { write("database did change") },
            didReceiveValue: { write("value: \($0)") },
            didFail: { write("failure: \($0)") },
            didCancel: { write("cancel") })
        let makeReducer = traced.makeReducer
        return traced.reducing {
            var reducer = makeReducer()
            reducer.isPrint = true
            return reducer
        }
    }
}

/// A function in a structure, as ``Mutex`` needs it too: Swift would keep a conversion of the function for each use.
private struct Predicate<Value> {
    let isDuplicate: (Value, Value) -> Bool
}

/// A value that several threads use one after the other. Sendable because it was sent here, and is only used under
/// `lock`.
private final class Exclusive<Content>: @unchecked Sendable {
    private let lock = NSRecursiveLock()
    private var content: Content

    init(_ content: sending Content) {
        self.content = content
    }

    func use<T>(_ body: (inout Content) -> T) -> T {
        lock.withLock { body(&content) }
    }
}
