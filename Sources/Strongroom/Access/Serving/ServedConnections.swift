/// A queue or a pool, as its health, figures and end need it.
protocol ServedWriter: DatabaseWriter {
    var writer: SerializedConnection { get }

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
