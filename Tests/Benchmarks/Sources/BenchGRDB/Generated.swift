import Foundation
import GRDB

/// GRDB has no generated records. This is what a person writes who reads by position.
struct GeneratedWide: WideRecord {
    var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

    init(n: Int64) {
        (i0, i1, i2, i3, i4) = (n, n + 1, n + 2, n + 3, n + 4)
        (i5, i6, i7, i8, i9) = (n + 5, n + 6, n + 7, n + 8, n + 9)
    }

    init(row: Row) {
        i0 = row[0]
        i1 = row[1]
        i2 = row[2]
        i3 = row[3]
        i4 = row[4]
        i5 = row[5]
        i6 = row[6]
        i7 = row[7]
        i8 = row[8]
        i9 = row[9]
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

    var sum: Int64 {
        let first = i0 + i1 + i2 + i3 + i4
        return first + i5 + i6 + i7 + i8 + i9
    }
}

struct GeneratedMixed: MixedRecord {
    var identifier: Int64
    var title, body: String
    var createdAt: Date
    var rating: Double
    var isFavorite: Bool
    var comment: String?
    var uuid: UUID
    var kind: DocumentKind
    var attributes: String

    init(row: Row) {
        identifier = row[0]
        title = row[1]
        body = row[2]
        createdAt = row[3]
        rating = row[4]
        isFavorite = row[5]
        comment = row[6]
        uuid = row[7]
        kind = row[8]
        attributes = row[9]
    }

    var check: Int64 { identifier + Int64(title.utf8.count + body.utf8.count + (isFavorite ? 1 : 0)) }
}
