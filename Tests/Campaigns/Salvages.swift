import Foundation
import Strongroom
import TestSupport

/// Files of databases are damaged and salvaged: each row of authentic pages is saved, none is invented, and each that
/// is called missing is missing.
struct Salvages {
    let campaign: Campaign

    /// A damage to the database file, or to its log.
    enum Damage: String, CaseIterable {
        case zeroed, flipped, swapped, repeated, header, schema, interior, overflow, truncated
        case tornLog, shortLog, zeroedFrames, flippedLog, logHeader, lostLog

        var isOfLog: Bool {
            switch self {
            case .tornLog, .shortLog, .zeroedFrames, .flippedLog, .logHeader, .lostLog: true
            default: false
            }
        }
    }

    func run() throws {
        let wanted = campaign.options.scenarios
        let hasChinook = ProcessInfo.processInfo.environment["STRONGROOM_CHINOOK"] != nil
        let names = SalvageModel.Name.allCases.filter { name in
            wanted.isEmpty ? name != (hasChinook ? .small : .chinook) : wanted.contains(name.rawValue)
        }
        let total = campaign.options.count ?? 1000
        for name in names {
            alarm(0)
            let model = try SalvageModel(name, in: campaign.options.folder)
            for index in 0..<total / names.count {
                let damage = Damage.allCases[index % Damage.allCases.count]
                campaign.run("\(name)-\(damage)-\(index)") {
                    var random = SeededGenerator(seed: campaign.options.seed &* 100_003 &+ UInt64(index))
                    return try Case(model: model, damage: damage, folder: campaign.options.folder).run(&random)
                }
            }
        }
    }
}

/// One damage and what was saved.
private struct Case {
    let model: SalvageModel
    let damage: Salvages.Damage
    let folder: String

    private var path: String { folder + "/damaged" }
    private var out: String { folder + "/saved" }

    func run(_ random: inout SeededGenerator) throws -> String {
        try model.place(at: path, isLogged: damage.isOfLog)
        try? FileManager.default.removeItem(atPath: out)
        var damaged: Set<Int> = [], state: Int?
        if damage.isOfLog { state = try damageLog(&random) } else { damaged = try damageFile(&random) }
        let report = try DatabaseFile.salvage(path: path, to: out, encryption: model.encryption)
        let saved = try Saved(report, out, model)
        try saved.requireNoInvention(damage.isOfLog ? model.logged : model.plain)
        if damage.isOfLog {
            try saved.requireMissing(in: model.logged.states)
            if let state { try saved.require(model.logged.states[state]) }
        } else {
            try saved.requireMissing(in: model.plain.states)
            try saved.requireAll(model.plain, damaged: damaged)
        }
        return damage.rawValue
    }

    // MARK: - The file

    /// Damages the file. Returns the numbers of the damaged pages.
    private func damageFile(_ random: inout SeededGenerator) throws -> Set<Int> {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path)), size = model.pageSize
        defer { try? file.close() }
        let length = Int(try file.seekToEnd()), count = length / size
        if damage == .truncated {
            let end = Int.random(in: 0..<length, using: &random)
            try file.truncate(atOffset: UInt64(end))
            return Set(end / size + 1...count)
        }
        if damage == .header {
            let at = Int.random(in: 0..<100, using: &random)
            try change(file, at: 0) { $0[at] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            // The salt is known: the first 16 bytes are not read.
            return at < 16 ? [] : [1]
        }
        var numbers = candidates(count)
        numbers.shuffle(using: &random)
        numbers = Array(numbers.prefix(Int.random(in: 1...50, using: &random)))
        let source = try page(file, numbers[0])
        for number in numbers {
            switch damage {
            case .zeroed: try change(file, at: number - 1) { $0.resetBytes(in: 0..<size) }
            case .repeated: try change(file, at: number - 1) { $0 = source }
            case .swapped:
                let one = try page(file, number), other = try page(file, number % count + 1)
                try change(file, at: number - 1) { $0 = other }
                try change(file, at: number % count) { $0 = one }
            default:
                let at = Int.random(in: number == 1 ? 16..<size : 0..<size, using: &random)
                try change(file, at: number - 1) { $0[at] ^= 0x41 }
            }
        }
        return Set(numbers).union(damage == .swapped ? numbers.map { $0 % count + 1 } : [])
    }

    /// Returns the numbers of the pages that may be damaged: all pages, if the model has none of the kind.
    private func candidates(_ count: Int) -> [Int] {
        let chosen = model.plain.numbers { table, page in
            switch damage {
            case .schema: table.hasPrefix("sqlite_schema")
            case .interior: page.kind == "internal"
            case .overflow: page.kind == "overflow"
            default: false
            }
        }
        return chosen.isEmpty ? Array(1...count) : chosen
    }

    private func page(_ file: FileHandle, _ number: Int) throws -> Data {
        try file.seek(toOffset: UInt64((number - 1) * model.pageSize))
        return try file.read(upToCount: model.pageSize) ?? Data()
    }

    private func change(_ file: FileHandle, at place: Int, _ body: (inout Data) -> Void) throws {
        var bytes = try page(file, place + 1)
        body(&bytes)
        try file.seek(toOffset: UInt64(place * model.pageSize))
        try file.write(contentsOf: bytes)
    }

    // MARK: - The log

    /// Damages the log. Returns the number of the commit that is left of it. Nil if it may be none of them.
    private func damageLog(_ random: inout SeededGenerator) throws -> Int? {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
        let frame = model.pageSize + 24, count = (bytes.count - 32) / frame
        var state: Int?
        switch damage {
        case .lostLog:
            try FileManager.default.removeItem(atPath: path + "-wal")
            return 0
        case .tornLog, .shortLog:
            let end =
                damage == .tornLog
                ? Int.random(in: 0..<bytes.count, using: &random)
                : 32 + frame * Int.random(in: 0..<count, using: &random)
            bytes.removeSubrange(end...)
            state = model.logSizes.filter { $0 <= end }.count
        case .zeroedFrames:
            let first = Int.random(in: 0..<count, using: &random), last = min(count, first + 3)
            let range = 32 + first * frame..<32 + last * frame
            bytes.replaceSubrange(range, with: repeatElement(0, count: range.count))
        case .logHeader: bytes[Int.random(in: 0..<32, using: &random)] ^= 0x10
        default:
            for _ in 0..<Int.random(in: 1...50, using: &random) {
                bytes[Int.random(in: 32..<bytes.count, using: &random)] ^= 0x22
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path + "-wal"))
        return state
    }
}

/// The rows that a salvage has written.
private struct Saved {
    let report: SalvageReport
    private var tables: [String: Set<Int>] = [:]
    private var counts: [String: Int] = [:]
    private var lost: Set<Int> = []
    private var rowIDs: [String: Set<Int64>] = [:]

    init(_ report: SalvageReport, _ path: String, _ model: SalvageModel) throws {
        self.report = report
        let queue = try DatabaseQueue(path: path, configuration: model.configuration)
        try queue.read { db in
            for table in try SalvageLedger.tables(db) where table != report.lostAndFound {
                let missing = Set(report.tables.first { $0.name == table }?.missingRows ?? [])
                var rows: Set<Int> = [], found: Set<Int64> = []
                try SalvageLedger.forEachRow(db, table) { rowID, hash in
                    rows.insert(hash)
                    if let rowID, missing.contains(rowID) { found.insert(rowID) }
                }
                (tables[table], rowIDs[table]) = (rows, found)
            }
            guard let name = report.lostAndFound else { return }
            var withoutRowID: Set<Int> = []
            try SalvageLedger.forEachLostRow(db, name) { rowID, hash in
                lost.insert(hash)
                // Entries of indexes are there, too.
                if rowID == nil { withoutRowID.insert(hash) }
            }
            entriesOfIndexes = withoutRowID
        }
        try queue.close()
    }

    private var entriesOfIndexes: Set<Int> = []

    /// True for the index of a full-text table, which a salvage builds again.
    private func isBuiltAgain(_ table: String) -> Bool {
        table.hasPrefix("page_") && table != "page_content"
    }

    func requireNoInvention(_ ledger: SalvageLedger) throws {
        for (table, rows) in tables where !isBuiltAgain(table) {
            let known = ledger.states.reduce(into: Set<Int>()) { $0.formUnion($1[table] ?? []) }
            let invented = rows.subtracting(known).count
            guard invented == 0 else { throw Finding("\(invented) rows of \(table) are invented") }
        }
        let invented = lost.subtracting(ledger.once).subtracting(entriesOfIndexes).count
        guard invented == 0 else { throw Finding("\(invented) lost rows are invented") }
    }

    /// Requires that what is called missing is so: in at least one of the commits, if it may be any of them.
    func requireMissing(in states: [[String: Set<Int>]]) throws {
        for table in report.tables where !table.name.hasPrefix("sqlite_") {
            let known = states.map { state in
                let rows = state[table.name] ?? []
                return rows.subtracting(tables[table.name] ?? []).subtracting(lost).count
            }
            let most = known.max() ?? 0
            guard table.missing <= most else {
                throw Finding("\(table.missing) rows of \(table.name) are called missing, and \(most) are")
            }
            guard rowIDs[table.name]?.isEmpty ?? true else {
                throw Finding("a row of \(table.name) is called missing, and saved")
            }
        }
    }

    func requireAll(_ ledger: SalvageLedger, damaged: Set<Int>) throws {
        for entry in ledger.entries where !isBuiltAgain(entry.table) {
            guard tables[entry.table]?.contains(entry.hash) != true, !lost.contains(entry.hash),
                damaged.isDisjoint(with: entry.pages)
            else { continue }
            throw Finding("a row of \(entry.table) is not saved: \(entry.rowID ?? 0) on \(entry.pages)")
        }
    }

    /// Requires all rows of a commit, and no others.
    func require(_ state: [String: Set<Int>]) throws {
        for (table, rows) in state where !isBuiltAgain(table) && tables[table] != rows {
            throw Finding("\(table) is not that of the last whole commit")
        }
    }
}
