/// A quantity with which costs grow.
public enum Growth: String, CaseIterable, Sendable {
    case rows, inserts, columns, width
    case opening, reads, backup, rotation
    case readers, observations, otherObservations, keySlots

    public var title: String {
        switch self {
        case .rows: "rows, read as Codable records"
        case .inserts: "rows, inserted as records in a transaction"
        case .columns: "columns, read by name"
        case .width: "bytes of a text in a row"
        case .opening: "megabytes of a file: opening and the first read"
        case .reads: "megabytes of a file: reads of scattered rows"
        case .backup: "megabytes of a file: backup"
        case .rotation: "megabytes of a file: change of the key"
        case .readers: "readers at the same time, 20 rows an access"
        case .observations: "observations of the table that is written"
        case .otherObservations: "observations of another table"
        case .keySlots: "key slots: opening with the last one"
        }
    }

    /// The divisor of the cost.
    public var unit: String {
        switch self {
        case .rows, .inserts: "row"
        case .columns: "value"
        case .width: "kB"
        case .opening: "opening"
        case .reads: "read"
        case .backup, .rotation: "MB"
        case .readers: "access, processor time"
        case .observations: "write and observation"
        case .otherObservations: "write"
        case .keySlots: "slot"
        }
    }

    public func sizes(isLarge: Bool) -> [Int] {
        switch self {
        case .rows, .inserts: [1_000, 10_000, 100_000, 1_000_000]
        case .columns: [2, 20, 200, 2_000]
        case .width: [100, 1_000, 10_000, 100_000, 1_000_000]
        case .opening, .reads, .backup, .rotation: [10, 100, 1_000] + (isLarge ? [4_000] : [])
        case .readers: [1, 2, 4, 8]
        case .observations: [1, 10, 100, 1_000]
        case .otherObservations: [1, 10, 100, 1_000]
        case .keySlots: [1, 4, 16]
        }
    }

    /// True if the work is done on a file of that many megabytes.
    public var needsFile: Bool { [.opening, .reads, .backup, .rotation].contains(self) }

    // Work that is done for each size, so that short costs can be measured.

    public static let valueCount = 200_000
    public static let kilobyteCount = 32_000
    public static let openingCount = 20
    public static let readCount = 5_000
    public static let accessCount = 4_000
    public static let observedWriteCount = 20
    public static let otherWriteCount = 500
}
