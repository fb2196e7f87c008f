import CStrongroom

/// The progress of a copy, and the stops that reach it.
final class CopyProgress {
    private let report: ((EncryptionProgress) throws -> Void)?
    private let pageCount: Int
    private let source: Database
    private var completed = 0
    private var phase = EncryptionProgress.Phase.writing

    init(of source: Database, pageCount: Int? = nil, _ report: ((EncryptionProgress) throws -> Void)?) throws {
        self.source = source
        self.report = report
        self.pageCount = try pageCount ?? source.pageCount
    }

    var isReported: Bool { report != nil }

    /// So many pages are written. All of them count as done when the copy is checked.
    func advance(to count: Int) throws {
        completed = max(0, min(count, pageCount - 1))
        try check()
    }

    /// So many of the pages that were written are checked.
    func check(completed count: Int) throws {
        phase = .checking
        try advance(to: count)
    }

    /// Reports the same progress again, which is a chance to stop. A stop of the original stops its copy.
    func check() throws {
        try source.stops.check()
        try Task.checkCancellation()
        try report?(EncryptionProgress(completedPageCount: completed, totalPageCount: pageCount, phase: phase))
    }

    func complete() throws {
        completed = pageCount
        try check()
    }
}

extension Database {
    /// Runs `body` while SQLite calls `progress.check()` in the middle of statements; what that throws stops them, and
    /// is thrown on.
    func stopping<T>(by progress: CopyProgress, _ body: () throws -> T) throws -> T {
        let watch = StatementWatch(progress)
        return try withExtendedLifetime(watch) {
            strongroom_connection_watch(
                connection, { Unmanaged<StatementWatch>.fromOpaque($0!).takeUnretainedValue().shouldStop() },
                                        Unmanaged.passUnretained(watch).toOpaque())
            defer { strongroom_connection_watch(connection, nil, nil) }
            let result = Result { try body() }
            if let stopped = watch.stopped { throw stopped }
            return try result.get()
        }
    }
}

private final class StatementWatch {
    private let progress: CopyProgress
    private(set) var stopped: (any Error)?

    init(_ progress: CopyProgress) {
        self.progress = progress
    }

    func shouldStop() -> CInt {
        guard stopped == nil else { return 1 }
        do {
            try progress.check()
            return 0
        } catch {
            stopped = error
            return 1
        }
    }
}
