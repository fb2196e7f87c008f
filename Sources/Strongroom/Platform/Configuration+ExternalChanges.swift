extension Configuration {
    /// A Boolean value that indicates whether observations see the changes that other processes, and other connections
    /// of this one, commit to the database. Default: false.
    ///
    /// The files of the database are watched from its opening until it is closed, without polling. The content of such
    /// a change is not known: each ``ValueObservation`` fetches again, and each ``DatabaseRegionObservation`` gets
    /// ``DatabaseRegionObservation/Event/unknownChange(_:)``. A read-only queue or pool can be observed, too. A
    /// ``TransactionObserver`` is not called.
    ///
    /// Observations see such a change when the writer is free. If another process rotates the key, or the file or its
    /// folder is renamed, removed or replaced, observations end with an error, and the next write fails. Databases in
    /// memory and attached databases are not watched. See <doc:Sharing>.
    ///
    /// If the system has no room for a watch, the database is checked each second. Opening throws `SQLITE_CANTOPEN` if
    /// the process can't watch any file.
    public var observesExternalChanges: Bool {
        get { fileWatching != nil }
        set { fileWatching = newValue ? DatabaseFileWatch.init(path:onEvent:) : nil }
    }
}
