import CWork
import Workload

/// Prepared statements on a connection of their own. One thread at a time uses it.
final class Session: @unchecked Sendable {
    let db: OpaquePointer?
    private var session: cwork_session

    init(_ path: String) {
        db = cwork_open(path, Workload.keySpec)
        session = cwork_session_begin(db, Workload.selectRange, Workload.insert)
    }

    deinit {
        cwork_session_end(&session)
        cwork_close(db)
    }

    func read(_ n: Int64) -> Int64 { cwork_session_read(&session, Workload.rangeStart(n), Workload.rangeLength) }
    func scan() -> Int64 { cwork_session_read(&session, 0, Workload.pointCount) }
    func insert(_ n: Int64) { cwork_session_insert(&session, 10, n) }
    func transaction(_ n: Int64) { cwork_session_transaction(&session, 10, n) }
}

func concurrentReaders(_ call: Call, accesses: Int64, _ read: @escaping @Sendable (Session, Int64) -> Int64) -> Outcome
{
    let sessions = (0..<call.size).map { _ in Session(call.path) }
    for session in sessions { _ = session.read(0) }
    return .timing {
        onThreads(call.size) { index in (0..<accesses).reduce(0) { $0 + read(sessions[index], $1) } }
    }
}

func readsBesideWrite(_ call: Call) -> Outcome {
    let writer = Session(call.path)
    cwork_execute(writer.db, Workload.clearInserted)
    let readers = (0..<2).map { _ in Session(call.path) }
    for reader in readers { _ = reader.read(0) }
    return .besideWrite { progress in
        cwork_execute(writer.db, "BEGIN IMMEDIATE")
        progress.insert { writer.insert($0) }
        cwork_execute(writer.db, "ROLLBACK")
    } read: { index in
        let sum = (0..<Int64(call.size / 2)).reduce(0) { $0 + readers[index].read($1) }
        // Nothing of the write is to be seen.
        return sum + cwork_one(readers[index].db, Workload.countInserted)
    }
}

func writeLatency(_ call: Call, _ db: OpaquePointer?) -> Outcome {
    let writer = Session(call.path)
    let readers = (0..<2).map { _ in Session(call.path) }
    return .latencies(of: call.size) { n in
        writer.transaction(n)
    } read: { index, n in
        readers[index].read(n)
    } check: {
        cwork_one(writer.db, Workload.countInserted)
    }
}
