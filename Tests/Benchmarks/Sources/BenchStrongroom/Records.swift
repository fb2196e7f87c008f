import Workload

// The rows of the work as records: written out, and derived from Codable.

protocol WideRecord: FetchableRecord, PersistableRecord, Sendable {
    init(n: Int64)
    var sum: Int64 { get }
}

extension WideRecord {
    static var databaseTableName: String { "inserted" }
}

struct PlainWide: WideRecord {
    var a, b, c, d, e, f, g, h, i, j: Int64

    init(n: Int64) {
        (a, b, c, d, e) = (n, n + 1, n + 2, n + 3, n + 4)
        (f, g, h, i, j) = (n + 5, n + 6, n + 7, n + 8, n + 9)
    }

    init(row: Row) {
        a = row["a"]
        b = row["b"]
        c = row["c"]
        d = row["d"]
        e = row["e"]
        f = row["f"]
        g = row["g"]
        h = row["h"]
        i = row["i"]
        j = row["j"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["a"] = a
        container["b"] = b
        container["c"] = c
        container["d"] = d
        container["e"] = e
        container["f"] = f
        container["g"] = g
        container["h"] = h
        container["i"] = i
        container["j"] = j
    }

    var sum: Int64 { let left = a + b + c + d + e; return left + f + g + h + i + j }
}

struct CodableWide: WideRecord, Codable {
    var a, b, c, d, e, f, g, h, i, j: Int64

    init(n: Int64) {
        (a, b, c, d, e) = (n, n + 1, n + 2, n + 3, n + 4)
        (f, g, h, i, j) = (n + 5, n + 6, n + 7, n + 8, n + 9)
    }

    var sum: Int64 { let left = a + b + c + d + e; return left + f + g + h + i + j }
}
