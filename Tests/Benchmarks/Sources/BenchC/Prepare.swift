import CWork
import Workload

func prepare(folder: String, chinook: String) {
    let db = cwork_open(folder + "/bench.sqlite", Workload.keySpec)
    // The copy of another database comes first: it is meant for an empty one.
    if chinook.isEmpty {
        cwork_execute(db, "BEGIN; \(Workload.chinook) COMMIT")
    } else {
        cwork_execute(db, "ATTACH '\(chinook)' AS plain KEY ''")
        _ = cwork_one(db, "SELECT sqlcipher_export('main', 'plain') IS NULL")
        cwork_execute(db, "DETACH plain")
    }
    cwork_execute(db, Workload.tables)
    cwork_fill(db, Workload.insertWide, 10, Workload.wideCount)
    cwork_execute(db, Workload.fillMixed)
    cwork_fill(db, Workload.insertMany, 2, Workload.manyCount)
    cwork_fill(db, Workload.insertPoint, 2, Workload.pointCount)
    cwork_insert_texts(db, Workload.insertText, Workload.title, Workload.body, Workload.textCount)
    cwork_insert_blobs(db, Workload.insertBlob, Int32(Workload.blobSize), Workload.blobCount)
    cwork_close(db)

    for (name, key) in [("passphrase", Workload.passphrase), ("derived", Workload.derivedKeySpec)] {
        let db = cwork_open("\(folder)/\(name).sqlite", key)
        cwork_execute(db, Workload.tables)
        cwork_fill(db, Workload.insertPoint, 2, Workload.pointCount)
        cwork_close(db)
    }
}

func prepareRotation(megabytes: Int64, path: String) {
    let db = cwork_open(path, rawKey(Workload.rotationKeys[0]))
    cwork_execute(db, Workload.createPayload)
    cwork_insert_blobs(
        db, Workload.insertPayload, Int32(Workload.payloadSize), megabytes * Int64(Workload.payloadRowsPerMegabyte))
    cwork_close(db)
}

func prepareDay(path: String) {
    let db = cwork_open(path, Day.passphrase)
    cwork_execute(db, Day.database)
    cwork_close(db)
}

func rawKey(_ hex: String) -> String { "x'\(hex)'" }
