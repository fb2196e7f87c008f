extension DatabaseRegionObservation {
    /// A change of the region. It has the writer, which is outside of any transaction, before the next write.
    public enum Event {
        /// A transaction of this queue or pool has changed the region.
        case change(Database)

        /// Another process or another connection has committed. Its changes are not known, and may be outside of the
        /// region.
        ///
        /// One event may stand for several commits. See ``Configuration/observesExternalChanges``.
        case unknownChange(Database)

        /// The writer.
        public var database: Database {
            switch self {
            case .change(let db), .unknownChange(let db): db
            }
        }
    }
}
