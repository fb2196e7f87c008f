/// A queue or a pool, as its health, figures and end need it.
protocol ServedWriter: DatabaseWriter {
    var writer: SerializedConnection { get }

    var databaseLock: DatabaseLock { get }

    /// The readers of a pool. Nil for a queue.
    var readerPool: ReaderPool? { get }

    /// Closes, after the accesses that came before. Calls `willClose` before, with the writer, unless it is closed.
    func close(calling willClose: (Database) -> Void) throws
}

extension DatabasePool: ServedWriter {
    var readerPool: ReaderPool? { readers }
}

extension DatabaseQueue: ServedWriter {
    var readerPool: ReaderPool? { nil }
}

extension ReaderPool {
    /// The number of readers in use, and of those that are open.
    var readerCounts: (inUse: Int, open: Int) {
        state.withLock { state in
            (state.inUse.count, (state.idle + state.inUse).count { $0.connection != nil })
        }
    }

    /// The number of accesses that wait, and the number of places that are reserved for them.
    var waiting: (count: Int, capacity: Int) { state.withLock { $0.turnstile.waiting } }
}

extension DatabaseReader {
    /// The queue or pool behind its wrappers. Nil for other types.
    var served: (any ServedWriter)? {
        switch self {
        case let writer as any ServedWriter: writer
        case let wrapper as any ReaderWrapper: wrapper.reader.served
        default: nil
        }
    }
}
