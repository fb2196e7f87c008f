/// The progress of a copy, and the stops that end it.
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

    /// Reports the number of written pages. It is complete when the copy has been checked.
    func advance(to count: Int) throws {
        completed = max(0, min(count, pageCount - 1))
        try check()
    }

    /// Reports the number of written pages that have been checked.
    func check(completed count: Int) throws {
        phase = .checking
        try advance(to: count)
    }

    /// Reports the same progress again, to give the program an opportunity to stop. A stop of the original stops its
    /// copy.
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
    /// Runs `body` while SQLite calls `check` in the middle of statements. An error of `check` stops them, and is
    /// thrown.
    package func stopping<T>(by check: @escaping () throws -> Void, _ body: () throws -> T) throws -> T {
        try stopping(by: CopyProgress(of: self, pageCount: 0) { _ in try check() }, body)
    }

    /// Runs `body` while SQLite calls `progress.check()` in the middle of statements. An error of the check stops them,
    /// and is thrown.
    func stopping<T>(by progress: CopyProgress, _ body: () throws -> T) throws -> T {
        let watch = StatementWatch(progress)
        return try withExtendedLifetime(watch) {
            connection.watch(
                { Unmanaged<StatementWatch>.fromOpaque($0!).takeUnretainedValue().shouldStop() },
                Unmanaged.passUnretained(watch).toOpaque())
            defer { connection.endWatch() }
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
