import CWork
import Workload

// Work on whole databases: opening, closing, changing the key.

func openings(_ call: Call, _ key: String) -> Outcome {
    var db: OpaquePointer?
    return .timing(count: call.size) {
        db = cwork_open(call.path, key)
        return cwork_one(db, Workload.selectSeven)
    } then: {
        cwork_close(db)
    }
}

/// The floor: one derivation, five reads.
func openFiveTimes(_ call: Call) -> Outcome {
    .timing {
        let db = cwork_open(call.path, Workload.passphrase)
        defer { cwork_close(db) }
        return (0..<5).reduce(0) { sum, _ in sum + cwork_one(db, Workload.selectSeven) }
    }
}

func rotate(_ call: Call) -> Outcome {
    let db = cwork_open(call.path, rawKey(call.oldRotationKey))
    _ = cwork_one(db, Workload.countPayload)
    let outcome = Outcome.timing {
        cwork_execute(db, "PRAGMA rekey = \"\(rawKey(call.newRotationKey))\"; PRAGMA wal_checkpoint(TRUNCATE)")
        return 0
    }
    cwork_close(db)
    let again = cwork_open(call.path, rawKey(call.newRotationKey))
    defer { cwork_close(again) }
    return Outcome(check: cwork_one(again, Workload.countPayload), values: outcome.values)
}
