import CWork
import Dispatch
import Workload

// `BenchC prepare 0 FILE` makes the database that all programs work on.
if CommandLine.arguments.count == 4, CommandLine.arguments[1] == "prepare" {
    for (path, key) in [(CommandLine.arguments[3], Workload.keySpec), (CommandLine.arguments[3] + "-passphrase", Workload.passphrase)] {
        let db = cwork_open(path, key)
        cwork_execute(db, Workload.createWide)
        cwork_execute(db, Workload.createPoint)
        cwork_execute(db, Workload.createInserted)
        cwork_fill(db, Workload.insertWide, 10, 200_000)
        cwork_fill(db, Workload.insertPoint, 2, Int64(Workload.pointCount))
        cwork_close(db)
    }
} else {
    let call = Call()
    let size = Int64(call.size)
    let (seconds, check): (Double, Int64)
    if call.item == .openFiveThreads {
        // The floor: one derivation, one read.
        (seconds, check) = timed {
            let db = cwork_open(call.path + "-passphrase", Workload.passphrase)
            var sum: Int64 = 0
            for _ in 0..<5 { sum += cwork_one(db, "SELECT COUNT(*) FROM wide WHERE a = 7") }
            cwork_close(db)
            return sum
        }
    } else {
        let db = cwork_open(call.path, Workload.keySpec)
        cwork_execute(db, "DELETE FROM inserted")
        _ = cwork_one(db, "SELECT SUM(a) FROM wide")
        (seconds, check) = timed {
            switch call.item {
            case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable:
                cwork_rows(db, Workload.selectWide, 10, size)
            case .pointReadInAccess:
                cwork_points(db, Workload.selectPoint, size, Int64(Workload.pointCount), 0)
            case .pointReadPool, .pointReadAwait:
                cwork_points(db, Workload.selectPoint, size, Int64(Workload.pointCount), 1)
            case .insertsPositional, .insertsRecords, .insertsCodable:
                cwork_inserts(db, Workload.insert, Workload.countInserted, 10, size)
            case .smallTransactions:
                cwork_small_transactions(db, Workload.insert, Workload.countInserted, 10, size)
            case .openFiveThreads:
                0
            }
        }
        cwork_close(db)
    }
    call.report(seconds: seconds, check: check)
}
