import CStrongroomFaults
import Dispatch
import Foundation
import Strongroom
import TestSupport
import Testing

/// A value that several threads write and read.
final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) { stored = value }

    var value: Value {
        lock.withLock { stored }
    }

    func update<T>(_ change: (inout Value) -> T) -> T {
        lock.withLock { change(&stored) }
    }
}

/// A point that threads wait for, opened once and for all. Waiting too long is a failure instead of a hang.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let patience: TimeInterval

    init(patience: TimeInterval = 60) { self.patience = patience }

    func open() { semaphore.signal() }

    func pass(sourceLocation: SourceLocation = #_sourceLocation) {
        let isPassed = semaphore.wait(timeout: .now() + patience) == .success
        #expect(isPassed, "the gate stays closed", sourceLocation: sourceLocation)
        semaphore.signal()
    }

    /// Returns true if the gate opens within so many seconds.
    func opens(within seconds: TimeInterval) -> Bool {
        guard semaphore.wait(timeout: .now() + seconds) == .success else { return false }
        semaphore.signal()
        return true
    }
}

/// Knows when a connection of this process waits for a lock that another one has.
struct LockWait {
    private let former: Int64

    init() {
        strongroom_faults_install()
        former = strongroom_faults_sleeps()
    }

    /// Blocks until a connection has begun to wait since this was made.
    func pass(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(strongroom_faults_await_sleep(former), "no thread waits for a lock", sourceLocation: sourceLocation)
    }
}

/// Does something when it goes away.
final class Farewell: Sendable {
    private let say: @Sendable () -> Void

    init(_ say: @escaping @Sendable () -> Void) { self.say = say }

    deinit { say() }
}

/// Runs `body` on a thread of its own, and suspends the task until it is done.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
    }
}

/// Starts `body` on a thread of its own. The gate opens when it is done.
@discardableResult
func start(_ body: @escaping @Sendable () -> Void) -> Gate {
    let isDone = Gate()
    Thread.detachNewThread {
        body()
        isDone.open()
    }
    return isDone
}

/// A write on a thread of its own that inserts a wine, and then writes until it is stopped.
struct EndlessWrite: Sendable {
    private let isOver: Gate
    private let failure = Shared<(any Error)?>(nil)

    /// Returns when the statement runs.
    init(_ writer: any DatabaseWriter) {
        let isWriting = Gate()
        isOver = start { [failure] in
            do {
                try writer.write { db in
                    try db.insertWine()
                    try db.writeForever(isWriting.open)
                }
            } catch {
                failure.update { $0 = error }
            }
        }
        isWriting.pass()
    }

    /// Waits for the end. Returns its error.
    func end() -> (any Error)? {
        isOver.pass()
        return failure.value
    }
}

/// An access on a thread of its own, which keeps its connection until it is ended.
struct HeldAccess {
    private let mayEnd: Gate
    private let hasEnded: Gate

    /// Starts `access`. Returns when it has called its argument, which blocks until `end()`.
    init(_ access: @escaping @Sendable (_ hold: () -> Void) throws -> Void) async throws {
        let hasBegun = Gate(), mayEnd = Gate()
        hasEnded = start {
            try! access {
                hasBegun.open()
                mayEnd.pass()
            }
        }
        self.mayEnd = mayEnd
        try await onThread { hasBegun.pass() }
    }

    /// Returns when the access has ended.
    func end() async throws {
        mayEnd.open()
        try await onThread { hasEnded.pass() }
    }
}

extension TemporaryFolder {
    private static let kept: Shared<[TemporaryFolder]> = {
        atexit { TemporaryFolder.kept.update { $0 = [] } }
        return Shared([])
    }()

    /// Keeps the folder until the process ends: a database may outlive the fixture that it came from.
    func keep() {
        Self.kept.update { $0.append(self) }
    }
}

/// A pool on an encrypted file in a folder of its own.
final class PoolFixture: Sendable {
    let folder: TemporaryFolder
    let pool: DatabasePool

    var path: String { pool.path }

    init(_ configuration: Configuration = .encrypted()) throws {
        folder = try TemporaryFolder()
        folder.keep()
        pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") }
    }
}

/// A queue on an encrypted file in a folder of its own.
final class QueueFixture: Sendable {
    let folder: TemporaryFolder
    let queue: DatabaseQueue

    init(_ configuration: Configuration = .encrypted()) throws {
        folder = try TemporaryFolder()
        folder.keep()
        queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") }
    }
}

/// A writer of either kind, on an encrypted file.
enum WriterKind: String, CaseIterable, CustomTestStringConvertible {
    case queue, pool, anyWriter

    var testDescription: String { rawValue }

    func make(_ configuration: Configuration = .encrypted()) throws -> (any DatabaseWriter, TemporaryFolder) {
        switch self {
        case .queue:
            let fixture = try QueueFixture(configuration)
            return (fixture.queue, fixture.folder)
        case .pool:
            let fixture = try PoolFixture(configuration)
            return (fixture.pool, fixture.folder)
        case .anyWriter:
            let fixture = try PoolFixture(configuration)
            return (AnyDatabaseWriter(fixture.pool), fixture.folder)
        }
    }
}

extension Database {
    func insertWine(_ name: String = "Chinon") throws {
        try execute(sql: "INSERT INTO wine (name) VALUES (?)", arguments: [name])
    }

    func countWines() throws -> Int {
        try Int.fetchOne(self, sql: "SELECT COUNT(*) FROM wine")!
    }

    /// Runs until it is stopped.
    func runForever() throws {
        _ = try Int.fetchOne(
            self,
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n
                """)
    }

    /// Writes until it is stopped. Calls `begun` once, inside of the statement.
    func writeForever(_ begun: @escaping @Sendable () -> Void = {}) throws {
        add(
            function: DatabaseFunction("begun", argumentCount: 0) { _ in
                begun()
                return "flood"
            })
        try execute(
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
                INSERT INTO wine (name) SELECT CASE i WHEN 1 THEN begun() ELSE 'flood' END FROM n
                """)
    }
}

/// Awaits a condition that another thread brings about, without a fixed delay.
func eventually(within seconds: TimeInterval = 20, _ condition: () throws -> Bool) async throws -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while try !condition() {
        if Date() > end { return false }
        try await Task.sleep(nanoseconds: 1_000_000)
    }
    return true
}
