/// The progress of one rotation. C calls it, and it checks for stops of the connection.
final class RotationAttempt {
    /// The error that stopped the rotation: of the progress function, or of a stop.
    private(set) var stopped: (any Error)?
    private let database: Database
    private var check: (() throws -> Void)?
    private let totalPageCount: Int
    private let progress: ((EncryptionProgress) throws -> Void)?

    init(of database: Database, totalPageCount: Int, progress: ((EncryptionProgress) throws -> Void)?) {
        self.database = database
        self.totalPageCount = totalPageCount
        self.progress = progress
    }

    func run<T>(
        _ check: () throws -> Void, _ body: (UnsafeMutableRawPointer, RawConnection.RekeyProgress) throws -> T
    ) rethrows -> T {
        try withoutActuallyEscaping(check) { check in
            self.check = check
            defer { self.check = nil }
            return try body(Unmanaged.passUnretained(self).toOpaque(), reportProgress)
        }
    }

    func report(_ count: Int) -> CInt {
        // Some pages are written twice.
        guard stopped == nil, count < totalPageCount else { return 0 }
        do {
            try check?()
            try notifyProgress(count)
            return 0
        } catch {
            stopped = error
            return 1
        }
    }

    /// Reports completion. The change has happened: stops do not apply.
    func complete() {
        try? notifyProgress(totalPageCount)
    }

    private func notifyProgress(_ count: Int) throws {
        // Half of the pages have the other key.
        try database.barred(in: "the progress function of rotateKey") {
            try progress?(EncryptionProgress(completedPageCount: count, totalPageCount: totalPageCount))
        }
    }
}

private func reportProgress(_ context: UnsafeMutableRawPointer?, _ pages: Int64) -> CInt {
    Unmanaged<RotationAttempt>.fromOpaque(context!).takeUnretainedValue().report(Int(pages))
}
