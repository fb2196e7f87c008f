extension ValueObserver {
    /// Returns `fetch`, counted, and measured while the figures of the database have a listener.
    static func measured(
        _ fetch: @escaping @Sendable (Database) throws -> Fetched, _ tally: Tally?
    ) -> @Sendable (Database) throws -> Fetched {
        guard let tally else { return fetch }
        return { db in
            tally.countObservationFetch()
            guard tally.isListening else { return try fetch(db) }
            let start = Tally.now
            defer { tally.report(.observationFetch(Tally.now &- start)) }
            return try fetch(db)
        }
    }
}
