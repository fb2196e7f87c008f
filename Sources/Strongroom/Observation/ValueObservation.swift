/// An observation that fetches a value, and fetches it again after each change of the data that it depends on.
///
/// ```swift
/// let observation = ValueObservation.tracking { db in
///     try Player.fetchAll(db)
/// }
/// for try await players in observation.values(in: dbPool) {
///     print("Fresh players", players)
/// }
/// ```
///
/// - The latest state of the database is always notified in the end. Changes in quick succession may be notified as
///   one.
/// - Values are notified in the order of the database states that they come from. The same value may come twice.
/// - With a ``DatabasePool``, its readers fetch the values: writes and fetches do not wait for each other. With a
///   ``DatabaseQueue``, values are fetched after each transaction that changes the region.
/// - An error ends the observation.
///
/// Changes by other processes are seen if ``Configuration/observesExternalChanges`` is set. A ``DatabaseSnapshot``,
/// which can't change, has one value.
public struct ValueObservation<Reducer: ValueReducer>: Sendable {
    /// The way in which the observed region is determined.
    enum Tracking: Sendable {
        /// The region is what each fetch reads.
        case everyFetch

        /// The region is what the first fetch reads.
        case firstFetch

        case regions([any DatabaseRegionConvertible])
    }

    let tracking: Tracking
    var events = ObservationEvents()
    let makeReducer: @Sendable () -> Reducer

    /// A Boolean value that indicates whether the value is fetched in a write transaction, for functions that write.
    /// Default: false.
    public var requiresWriteAccess = false

    private init(tracking: Tracking, makeReducer: @escaping @Sendable () -> Reducer) {
        self.tracking = tracking
        self.makeReducer = makeReducer
    }

    /// Returns the observation with another reducer.
    func reducing<Other: ValueReducer>(_ makeReducer: @escaping @Sendable () -> Other) -> ValueObservation<Other> {
        var observation = ValueObservation<Other>(
            tracking: ValueObservation<Other>.Tracking(tracking), makeReducer: makeReducer)
        observation.events = events
        observation.requiresWriteAccess = requiresWriteAccess
        return observation
    }
}

extension ValueObservation.Tracking {
    fileprivate init<Other>(_ other: ValueObservation<Other>.Tracking) {
        switch other {
        case .everyFetch: self = .everyFetch
        case .firstFetch: self = .firstFetch
        case .regions(let regions): self = .regions(regions)
        }
    }
}

extension ValueObservation {
    /// Observes the tables, columns and rows that `fetch` reads, which are determined again at each fetch.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer>
    where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(tracking: .everyFetch) { ValueReducers.Fetch(fetch: fetch) }
    }

    /// Observes the tables, columns and rows that `fetch` reads the first time it runs. Use it for functions that
    /// always read the same region: it is cheaper than `tracking(_:)`.
    ///
    /// A region that the function reads only in a later fetch is not observed.
    @preconcurrency
    public static func trackingConstantRegion<Value: Sendable>(
        _ fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer>
    where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(tracking: .firstFetch) { ValueReducers.Fetch(fetch: fetch) }
    }

    /// Observes regions, independently of what `fetch` reads.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        region: any DatabaseRegionConvertible,
        _ otherRegions: any DatabaseRegionConvertible...,
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer>
    where Reducer == ValueReducers.Fetch<Value> {
        tracking(regions: [region] + otherRegions, fetch: fetch)
    }

    /// Observes regions, independently of what `fetch` reads.
    @preconcurrency
    public static func tracking<Value: Sendable>(
        regions: [any DatabaseRegionConvertible],
        fetch: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Reducer>
    where Reducer == ValueReducers.Fetch<Value> {
        ValueObservation(tracking: .regions(regions)) { ValueReducers.Fetch(fetch: fetch) }
    }
}
