import Strongroom

/// The record as @DatabaseRecord writes it: the benchmark needs no swift-syntax.
struct GeneratedWide: WideRecord, GeneratedRecord {
    static let databaseColumns = RecordColumns(["i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7", "i8", "i9"])

    var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

    init(n: Int64) {
        (i0, i1, i2, i3, i4) = (n, n + 1, n + 2, n + 3, n + 4)
        (i5, i6, i7, i8, i9) = (n + 5, n + 6, n + 7, n + 8, n + 9)
    }

    init(row: Row) throws {
        try self.init(columns: row.reading(Self.databaseColumns))
    }

    init(columns: RecordRow) throws {
        i0 = try columns.value(0)
        i1 = try columns.value(1)
        i2 = try columns.value(2)
        i3 = try columns.value(3)
        i4 = try columns.value(4)
        i5 = try columns.value(5)
        i6 = try columns.value(6)
        i7 = try columns.value(7)
        i8 = try columns.value(8)
        i9 = try columns.value(9)
    }

    func encode(to container: inout PersistenceContainer) {
        container["i0"] = i0
        container["i1"] = i1
        container["i2"] = i2
        container["i3"] = i3
        container["i4"] = i4
        container["i5"] = i5
        container["i6"] = i6
        container["i7"] = i7
        container["i8"] = i8
        container["i9"] = i9
    }

    func encode(to container: inout PersistenceContainer, prefix: String) {
        container[prefix + "i0"] = i0
        container[prefix + "i1"] = i1
        container[prefix + "i2"] = i2
        container[prefix + "i3"] = i3
        container[prefix + "i4"] = i4
        container[prefix + "i5"] = i5
        container[prefix + "i6"] = i6
        container[prefix + "i7"] = i7
        container[prefix + "i8"] = i8
        container[prefix + "i9"] = i9
    }

    var sum: Int64 {
        let first = i0 + i1 + i2 + i3 + i4
        return first + i5 + i6 + i7 + i8 + i9
    }
}
