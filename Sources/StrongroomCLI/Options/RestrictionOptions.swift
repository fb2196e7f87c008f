import ArgumentParser
import Strongroom

/// The options for SQL of others.
struct RestrictionOptions: ParsableArguments {
    @Flag(help: "Only run queries, with harmless functions and within limits. The options below imply it.")
    var restrict = false

    @Option(
        help: ArgumentHelp(
            """
            The tables and views that the SQL may read, separated by commas: all of their columns, or name:column. A \
            view reads what it is made of. Default: all.
            """, valueName: "names"))
    var tables: String?

    @Option(help: ArgumentHelp("Stop after so many rows of a statement. Default: 10000.", valueName: "count"))
    var maxRows: Int?

    @Option(help: ArgumentHelp("Stop after so many seconds. Default: 5.", valueName: "seconds"))
    var maxTime: Double?

    @Option(
        help: ArgumentHelp(
            "Stop if SQLite needs more memory, in bytes or with K, M or G. Default: 64M.", valueName: "size"))
    var maxMemory: ByteCount?

    var isGiven: Bool {
        restrict || tables != nil || maxRows != nil || maxTime != nil || maxMemory != nil
    }

    /// The restrictions. Nil without an option.
    private var restrictions: Restrictions? {
        guard isGiven else { return nil }
        var restrictions = Restrictions(tables: tables.map(Self.sources))
        if let maxRows { restrictions.maximumRowCount = maxRows }
        if let maxTime { restrictions.maximumDuration = maxTime }
        if let maxMemory { restrictions.maximumMemoryByteCount = maxMemory.value }
        return restrictions
    }

    /// Reads `customer:id,customer:city,product`. A table that comes with columns has only these.
    private static func sources(_ text: String) -> [Restrictions.Source] {
        // By folded names, as SQLite compares them.
        var columns: [String: (table: String, names: Set<String>)] = [:], whole: [String: String] = [:]
        for item in text.utf8.split(separator: UInt8(ascii: ",")) {
            let parts = item.split(separator: UInt8(ascii: ":"), maxSplits: 1).map { String(Substring($0)) }
            guard let name = parts.first else { continue }
            let folded = name.foldedSQLName
            if parts.count == 2 {
                columns[folded, default: (name, [])].names.insert(parts[1])
            } else {
                whole[folded] = name
            }
        }
        return whole.values.map { .table($0) }
            + columns.filter { whole[$0.key] == nil }.values.map { .table($0.table, columns: $0.names) }
    }

    /// Runs `body` under the restrictions, if there are some. SQLite refuses memory beyond the limit.
    func applied(to db: Database, of file: String, _ body: () throws -> Void) throws {
        guard let restrictions else { return try body() }
        let (sum, overflows) = Int64(restrictions.maximumMemoryByteCount).addingReportingOverflow(Self.reserve)
        let former = Database.limitMemory(ofProcess: overflows ? .max : sum)
        defer { Database.limitMemory(ofProcess: former) }
        do {
            try db.restricted(to: restrictions, body)
        } catch let error as DatabaseError {
            guard let failure = Failure(restricted: error, file: file) else { throw error }
            throw failure
        }
    }

    /// The bytes that the connection has before the statement begins.
    private static let reserve: Int64 = 16 << 20
}

/// A number of bytes, as in `64M`.
struct ByteCount: ExpressibleByArgument {
    let value: Int

    init?(argument: String) {
        let units = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        // Some letters have two capitals.
        let unit = argument.last.flatMap { units[$0.uppercased()] }
        guard let number = Int(unit == nil ? argument : String(argument.dropLast())) else { return nil }
        let (value, overflows) = number.multipliedReportingOverflow(by: unit ?? 1)
        guard !overflows else { return nil }
        self.value = value
    }
}

extension Failure {
    /// Creates a failure for a rule of restrictions, with the rule and the object in the JSON. Nil for other errors.
    fileprivate init?(restricted error: DatabaseError, file: String) {
        guard error.reason == .restricted || error.reason == .unfitRestrictions else { return nil }
        let advice = error.recoverySuggestion.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        var details: [(String, JSON)] = []
        if let refusal = error.refusal {
            details = [
                ("rule", .text(refusal.rule.description)), ("object", .optional(refusal.object)),
                ("limit", refusal.limit.map { .real($0) } ?? .null),
            ]
        }
        self.init(
            .other, file: file, error.failureReason ?? error.description, details: details,
            remedy: advice ?? "Ask for what --tables allows")
    }
}
