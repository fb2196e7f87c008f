extension DatabaseRegionObservation {
    /// What has happened to the region, with the connection that writes, outside of transactions and before its next
    /// access.
    public enum Event {
        /// A transaction of this queue or pool has changed the region.
        case change(Database)

        /// Another process, or another connection, has committed. What it changed is not known, and may have nothing
        /// to do with the region.
        ///
        /// It may stand for several commits. See ``Configuration/observesExternalChanges``.
        case unknownChange(Database)

        /// The connection that writes.
        public var database: Database {
            switch self {
            case .change(let db), .unknownChange(let db): db
            }
        }
    }
}

extension ErrorLog {
    /// Logs what has ended an observation that has nobody to tell.
    static func logEnd(of error: any Error) {
        log((error as? DatabaseError)?.extendedResultCode ?? .SQLITE_ERROR, "an observation has ended: \(error)")
    }
}
