import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// A copy of a large database.
struct LargeDatabase {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    /// Makes what is copied: a table of rows of 900 bytes.
    static func template(rowCount: Int) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        folder.keep()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT);
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rowCount))
                    INSERT INTO wine (name) SELECT hex(randomblob(450)) FROM n
                    """)
        }
        try queue.close()
        return folder
    }

    init(_ template: TemporaryFolder, _ configuration: Configuration) throws {
        folder = try TemporaryFolder()
        try FileManager.default.copyItem(atPath: template.path("db.sqlite"), toPath: folder.path("db.sqlite"))
        queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
    }

    var path: String { folder.path("db.sqlite") }

    /// The locks that keep others out: without a write-ahead log, readers do.
    func locks() throws -> Set<String> {
        FileManager.default.fileExists(atPath: path + "-wal") ? try Locks.exclusive(on: path) : try Locks.all(on: path)
    }

    /// True if a checkpoint has its lock. <https://www.sqlite.org/walformat.html#wal_locks>
    func checkpoints() throws -> Bool {
        try Locks.exclusive(on: path).contains { line in
            let fields = line.split(separator: " ").suffix(2).compactMap { Int($0) }
            return fields.count == 2 && fields[0] <= 121 && fields[1] >= 121
        }
    }

    /// Runs `work`, and suspends the queue when `moment` has come, unless the work is done before.
    ///
    /// - parameter keepsLocks: True if the locks are not waited for.
    /// - returns: how long it took, and how long the locks stayed after the suspension, in seconds; and what the work
    ///   threw.
    func suspend(
        keepsLocks: Bool = false,
        at moment: @escaping @Sendable (_ start: Date, LargeDatabase) throws -> Bool,
        during work: @escaping @Sendable (DatabaseQueue) throws -> Void
    ) throws
        -> (took: Double, latency: Double, error: (any Error)?)
    {
        let outcome = Shared<Result<Double, any Error>?>(nil)
        let began = Date()
        let working = start { [queue] in
            let result = Result { try work(queue) }
            outcome.update { $0 = result.map { -began.timeIntervalSinceNow } }
        }
        while try !moment(began, self), outcome.value == nil { usleep(200) }
        let suspended = Date()
        queue.suspend()
        while try !keepsLocks && !locks().isEmpty, suspended.timeIntervalSinceNow > -20 { usleep(200) }
        let latency = -suspended.timeIntervalSinceNow
        working.pass()
        queue.resume()
        switch outcome.value! {
        case .success(let took): return (took, latency, nil)
        case .failure(let error): return (-began.timeIntervalSinceNow, latency, error)
        }
    }
}
