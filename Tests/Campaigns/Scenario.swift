import Foundation
import Strongroom

/// Something that a program does with a database.
struct Scenario {
    let name: String
    /// The secrets that open the database as a whole, for each way in which the scenario can end.
    var outcomes: [Set<Secret>] = [[.old]]
    /// The secret that opens the second database.
    var copySecret: Secret?
    /// True if a commit that returned survives a power cut.
    var isDurable = true
    /// False if it makes folders with names, which the simulated disk of power cuts does not know.
    var hasDisk = true
    /// Judges what the scenario makes beside the database.
    var judge: (Place, Ledger) throws -> Void = { _, _ in }
    /// Makes the database as it is before.
    var prepare: (Place, inout Ledger) throws -> Void
    var act: (Place, inout Ledger) throws -> Void

    var secrets: [Secret] { Set(outcomes.joined()).sorted { $0.rawValue < $1.rawValue } }

    /// Makes the files of the scenario in a folder, and returns what its user knows.
    func makeModel(_ place: Place) throws -> Ledger {
        var ledger = Ledger()
        try place.make()
        try prepare(place, &ledger)
        return ledger
    }
}

extension Scenario {
    static var all: [Scenario] { creations + writes + keyChanges + copies + replacements + slotChanges }

    static func named(_ names: [String]) throws -> [Scenario] {
        guard !names.isEmpty else { return all }
        return try names.flatMap { name in
            let found = all.filter { $0.name == name || $0.name.hasPrefix(name + "-") }
            guard !found.isEmpty else { throw Usage("no scenario \(name): \(all.map(\.name).joined(separator: ", "))") }
            return found
        }
    }

    // MARK: - Databases

    private static func nothing(_ place: Place, _ ledger: inout Ledger) {}

    /// A database with two batches.
    private static func database(
        _ secret: Secret, journal: String = "wal", header: PlaintextHeader? = nil
    ) -> (Place, inout Ledger) throws -> Void {
        { place, ledger in
            let queue = try place.open(secret) { $0.encryption?.plaintextHeader = header }
            try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(journal)") }
            try queue.write { db in
                try Ledger.createTables(db)
                for id in 1...8 { try db.execute(sql: "INSERT INTO ballast VALUES (\(id), randomblob(2000))") }
            }
            for _ in 1...2 { try ledger.commit(queue) }
            try queue.close()
        }
    }

    private static func slots(_ secrets: Secret...) -> (Place, inout Ledger) throws -> Void {
        { place, ledger in
            let queue = try place.open(secrets[0]) { $0.encryption?.keySlots.creating = secrets[0].slot }
            try queue.write { try Ledger.createTables($0) }
            try ledger.commit(queue)
            for secret in secrets.dropFirst() { try queue.keySlots().add(secret.key, secret.slot) }
            try queue.close()
        }
    }

    // MARK: - Opening and creating

    private static func creating(
        _ name: String, _ secret: Secret, _ change: @escaping (inout Configuration) -> Void = { _ in }
    ) -> Scenario {
        Scenario(name: "create-" + name, outcomes: [[secret]], prepare: nothing) { place, ledger in
            let queue = try place.open(secret, change)
            try queue.write { try Ledger.createTables($0) }
            try ledger.commit(queue)
            try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal") }
            try ledger.commit(queue)
            try queue.close()
        }
    }

    private static var creations: [Scenario] {
        [
            creating("raw", .old),
            creating("passphrase", .phrase),
            creating("header", .phrase) { $0.encryption?.plaintextHeader = PlaintextHeader() },
            // The recipe that loses the salt elsewhere.
            creating("recipe", .phrase) { configuration in
                configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cipher_plaintext_header_size = 32") }
            },
        ]
    }

    // MARK: - Writing

    private static func writing(_ name: String, journal: String, lock: String = "normal") -> Scenario {
        Scenario(name: "write-" + name, prepare: database(.old, journal: journal)) { place, ledger in
            let queue = try place.open(.old)
            try queue.inDatabase { try $0.execute(sql: "PRAGMA locking_mode = \(lock); PRAGMA cache_size = 10") }
            for _ in 1...3 { try ledger.commit(queue) }
            try queue.close()
        }
    }

    private static var writes: [Scenario] {
        [
            writing("wal", journal: "wal"), writing("delete", journal: "delete"),
            writing("persist", journal: "persist"),
            writing("truncate", journal: "truncate"), writing("exclusive", journal: "wal", lock: "exclusive"),
            Scenario(name: "write-pool", isDurable: false, prepare: database(.old)) { place, ledger in
                let pool = try DatabasePool(path: place.path, configuration: Secret.old.configuration)
                for _ in 1...3 { try ledger.commit(pool) }
                try pool.close()
            },
            Scenario(name: "checkpoint", prepare: database(.old)) { place, ledger in
                let queue = try place.open(.old)
                for mode in [Database.CheckpointMode.passive, .full, .restart, .truncate] {
                    try ledger.commit(queue)
                    _ = try queue.writeWithoutTransaction { try $0.checkpoint(mode) }
                }
                try ledger.commit(queue)
                try queue.close()
            },
            Scenario(name: "migrate-schema", prepare: database(.old)) { place, ledger in
                let first = ledger.acknowledged + 1, author = ledger.author
                var migrator = DatabaseMigrator()
                for batch in first...(first + 2) {
                    migrator.registerMigration("migration \(batch)") { db in
                        try db.execute(sql: "CREATE TABLE extra\(batch) (a); ALTER TABLE note ADD COLUMN c\(batch)")
                        try Ledger.insert(batch, by: author, in: db)
                    }
                }
                let queue = try place.open(.old)
                ledger.attempt(first + 2)
                try migrator.migrate(queue)
                ledger.acknowledge(first + 2)
                try queue.close()
            },
        ]
    }

    // MARK: - Changing the key or the header

    private static func rotating(
        _ name: String, _ old: Secret, _ new: Secret, journal: String = "wal", header: PlaintextHeader? = nil
    ) -> Scenario {
        Scenario(
            name: "rotate-" + name, outcomes: [[old], [new]],
            prepare: database(old, journal: journal, header: header)
        ) { place, ledger in
            let queue = try place.open(old)
            try ledger.commit(queue)
            try queue.rotateKey(to: new.key)
            ledger.settle(on: 1)
            try ledger.commit(queue)
            try queue.close()
        }
    }

    private static func header(_ name: String, from: PlaintextHeader?, to header: PlaintextHeader?) -> Scenario {
        Scenario(
            name: "header-" + name, outcomes: [[.phrase]], prepare: database(.phrase, header: from)
        ) { place, ledger in
            try DatabaseFile.setPlaintextHeader(header, path: place.path, encryption: Secret.phrase.encryption)
            let queue = try place.open(.phrase)
            try ledger.commit(queue)
            try queue.close()
        }
    }

    private static var keyChanges: [Scenario] {
        [
            rotating("wal", .old, .new), rotating("delete", .old, .new, journal: "delete"),
            rotating("passphrase", .phrase, .otherPhrase),
            rotating("header", .old, .new, header: PlaintextHeader()),
            header("on", from: nil, to: PlaintextHeader()), header("off", from: PlaintextHeader(), to: nil),
            header("size", from: PlaintextHeader(), to: PlaintextHeader(size: 64)),
        ]
    }

    // MARK: - Copies

    private static var copies: [Scenario] {
        [
            Scenario(
                name: "migrate-format", outcomes: [[.former]], copySecret: .old, prepare: database(.former)
            ) { place, ledger in
                try DatabaseFile.migrate(
                    path: place.path, to: place.copy, from: Secret.former.encryption, as: Secret.old.encryption)
                ledger.finishCopy()
            },
            Scenario(name: "backup", copySecret: .new, prepare: database(.old)) { place, ledger in
                let queue = try place.open(.old)
                let copy = try DatabaseQueue.durable(place.copy, Secret.new.configuration)
                try queue.backup(to: copy)
                ledger.finishCopy()
                try copy.close()
                try queue.close()
            },
            Scenario(name: "vacuum-into", copySecret: .old, prepare: database(.old)) { place, ledger in
                let queue = try place.open(.old)
                try queue.vacuum(into: place.copy)
                ledger.finishCopy()
                try ledger.commit(queue)
                try queue.close()
            },
            Scenario(
                name: "backup-folder", hasDisk: false, judge: BackupFolder.judge, prepare: database(.old)
            ) { place, ledger in
                for day in 1...3 { try BackupFolder(place).make(of: place, day: day) }
                ledger.finishCopy()
                try BackupFolder(place).forget()
            },
        ]
    }

    // MARK: - Replacements

    /// Makes a database, and a backup of it that the new key opens.
    private static func backedUp(leavesLog: Bool) -> (Place, inout Ledger) throws -> Void {
        { place, ledger in
            try database(.old)(place, &ledger)
            try DatabaseFile.migrate(
                path: place.path, to: place.copy, from: Secret.old.encryption, as: Secret.new.encryption)
            guard leavesLog else { return }
            let former = Place(folder: place.folder + "-open")
            try former.become(place)
            let queue = try former.open(.old)
            try queue.write { try $0.execute(sql: "UPDATE ballast SET content = randomblob(2000)") }
            for ending in ["", "-wal"] {
                try? FileManager.default.removeItem(atPath: place.path + ending)
                try FileManager.default.copyItem(atPath: former.path + ending, toPath: place.path + ending)
            }
            try queue.close()
            try former.remove()
        }
    }

    private static func restoring(_ name: String, leavesLog: Bool, _ former: FormerDatabase) -> Scenario {
        Scenario(
            name: "restore-" + name, outcomes: [[.old], [.new]], prepare: backedUp(leavesLog: leavesLog)
        ) { place, ledger in
            try DatabaseFile.restore(
                from: place.copy, to: place.path, check: .opening(Secret.new.encryption), former: former)
            ledger.settle(on: 1)
            let queue = try place.open(.new)
            try ledger.commit(queue)
            try queue.close()
        }
    }

    private static func migratingInPlace(_ name: String, journal: String) -> Scenario {
        Scenario(
            name: "migrate-in-place-" + name, outcomes: [[.former], [.new]],
            prepare: database(.former, journal: journal)
        ) { place, ledger in
            try DatabaseFile.migrateInPlace(
                path: place.path, from: Secret.former.encryption, as: Secret.new.encryption)
            ledger.settle(on: 1)
            let queue = try place.open(.new)
            try ledger.commit(queue)
            try queue.close()
        }
    }

    private static var replacements: [Scenario] {
        [
            restoring("kept", leavesLog: false, .kept), restoring("log", leavesLog: true, .kept),
            restoring("discarded", leavesLog: true, .discarded),
            migratingInPlace("wal", journal: "wal"), migratingInPlace("delete", journal: "delete"),
        ]
    }

    // MARK: - Key slots

    private static func changingSlots(
        _ name: String, _ secret: Secret, _ outcomes: [Set<Secret>],
        prepare: @escaping (Place, inout Ledger) throws -> Void, _ change: @escaping (DatabaseQueue) throws -> Void
    ) -> Scenario {
        Scenario(name: "slots-" + name, outcomes: outcomes, prepare: prepare) { place, ledger in
            let queue = try place.open(secret)
            try change(queue)
            ledger.settle(on: outcomes.count - 1)
            try ledger.commit(queue)
            try queue.close()
        }
    }

    private static var slotChanges: [Scenario] {
        [
            Scenario(name: "slots-create", outcomes: [[.first]], prepare: nothing) { place, ledger in
                try slots(.first)(place, &ledger)
            },
            changingSlots("add", .first, [[.first], [.first, .second]], prepare: slots(.first)) {
                try $0.keySlots().add(Secret.second.key, Secret.second.slot)
            },
            changingSlots("remove", .first, [[.first, .second], [.first]], prepare: slots(.first, .second)) {
                try $0.keySlots().remove("second")
            },
            changingSlots("change", .first, [[.first], [.second]], prepare: slots(.first)) {
                try $0.keySlots().change("first", to: Secret.second.key)
            },
            changingSlots("renew", .first, [[.first, .second], [.first]], prepare: slots(.first, .second)) {
                try $0.rotateKey(.keeping([Secret.first.key], droppingOthers: true))
            },
            changingSlots("give", .phrase, [[.phrase], [.first]], prepare: database(.phrase)) {
                try $0.rotateKey(.creating(Secret.first.slot, secret: Secret.first.key))
            },
            changingSlots("take", .first, [[.first], [.phrase]], prepare: slots(.first)) {
                try $0.rotateKey(.removing(newKey: Secret.phrase.key))
            },
        ]
    }
}
