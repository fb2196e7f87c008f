extension Configuration {
    /// Whether observations see the changes that other processes, and other connections of this one, commit to the
    /// database. Default: false.
    ///
    /// The files of the database are watched from its opening until it is closed: nothing is asked while nothing
    /// happens. What others have changed is not known: each ``ValueObservation`` fetches again, and each
    /// ``DatabaseRegionObservation`` gets ``DatabaseRegionObservation/Event/unknownChange(_:)``. A read-only queue or
    /// pool can be observed, too. ``TransactionObserver``s hear of nothing.
    ///
    /// The change of others is seen once the connection that writes is free. Rotating the key in another process, and
    /// renaming, removing or replacing the file, ends observations with an error. Ignored for databases in memory,
    /// and for attached databases. See <doc:Sharing>.
    ///
    /// Opening throws `SQLITE_CANTOPEN` when the system can't watch one more file.
    public var observesExternalChanges: Bool {
        get { fileWatching != nil }
        set { fileWatching = newValue ? DatabaseFileWatch.init(path:onEvent:) : nil }
    }
}
