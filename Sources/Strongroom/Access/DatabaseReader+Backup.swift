extension DatabaseReader {
    /// Copies the whole database over that of `writer`. Other reads of a pool go on. Writes, and all accesses of
    /// `writer`, wait.
    ///
    /// See ``Database/backup(to:pagesPerStep:progress:)`` for parameters and errors.
    public func backup(
        to writer: any DatabaseWriter,
        pagesPerStep: CInt = -1,
        progress: ((DatabaseBackupProgress) throws -> Void)? = nil
    ) throws {
        try writer.barrierWriteWithoutTransaction { destination in
            // The backup has a transaction of its own.
            try unsafeRead { source in
                try source.backup(to: destination, pagesPerStep: pagesPerStep, progress: progress)
            }
        }
    }
}
