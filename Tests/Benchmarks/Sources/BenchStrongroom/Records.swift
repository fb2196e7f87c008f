import Foundation
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
    var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

    init(n: Int64) {
        (i0, i1, i2, i3, i4) = (n, n + 1, n + 2, n + 3, n + 4)
        (i5, i6, i7, i8, i9) = (n + 5, n + 6, n + 7, n + 8, n + 9)
    }

    init(row: Row) {
        i0 = row["i0"]
        i1 = row["i1"]
        i2 = row["i2"]
        i3 = row["i3"]
        i4 = row["i4"]
        i5 = row["i5"]
        i6 = row["i6"]
        i7 = row["i7"]
        i8 = row["i8"]
        i9 = row["i9"]
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

struct CodableWide: WideRecord, Codable {
    var i0, i1, i2, i3, i4, i5, i6, i7, i8, i9: Int64

    init(n: Int64) {
        (i0, i1, i2, i3, i4) = (n, n + 1, n + 2, n + 3, n + 4)
        (i5, i6, i7, i8, i9) = (n + 5, n + 6, n + 7, n + 8, n + 9)
    }

    var sum: Int64 {
        let first = i0 + i1 + i2 + i3 + i4
        return first + i5 + i6 + i7 + i8 + i9
    }
}

// MARK: - Mixed columns

protocol MixedRecord: FetchableRecord, Sendable {
    var check: Int64 { get }
}

enum DocumentKind: String, Codable, DatabaseValueConvertible {
    case letter, invoice
}

struct PlainMixed: MixedRecord {
    var identifier: Int64
    var title, body: String
    var createdAt: Date
    var rating: Double
    var isFavorite: Bool
    var comment: String?
    var uuid: UUID
    var kind: DocumentKind
    /// JSON, which this program passes on: parsing it is no work of a database.
    var attributes: String

    init(row: Row) {
        identifier = row["identifier"]
        title = row["document_title"]
        body = row["body_text"]
        createdAt = row["createdAt"]
        rating = row["average_rating"]
        isFavorite = row["isFavorite"]
        comment = row["optional_comment"]
        uuid = row["documentUUID"]
        kind = row["document_kind"]
        attributes = row["attributesAsJSON"]
    }

    var check: Int64 { identifier + Int64(title.utf8.count + body.utf8.count + (isFavorite ? 1 : 0)) }
}

struct CodableMixed: MixedRecord, Codable {
    var identifier: Int64
    var document_title, body_text: String
    var createdAt: Date
    var average_rating: Double
    var isFavorite: Bool
    var optional_comment: String?
    var documentUUID: UUID
    var document_kind: DocumentKind
    var attributesAsJSON: String

    var check: Int64 { identifier + Int64(document_title.utf8.count + body_text.utf8.count + (isFavorite ? 1 : 0)) }
}
