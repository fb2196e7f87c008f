import Foundation
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

    func encode(to container: inout PersistenceContainer) throws {
        try container.set(self)
    }

    func encode(to values: RecordValues) throws {
        values.set(self.i0, at: 0)
        values.set(self.i1, at: 1)
        values.set(self.i2, at: 2)
        values.set(self.i3, at: 3)
        values.set(self.i4, at: 4)
        values.set(self.i5, at: 5)
        values.set(self.i6, at: 6)
        values.set(self.i7, at: 7)
        values.set(self.i8, at: 8)
        values.set(self.i9, at: 9)
    }

    var sum: Int64 {
        let first = i0 + i1 + i2 + i3 + i4
        return first + i5 + i6 + i7 + i8 + i9
    }
}

struct GeneratedMixed: MixedRecord, GeneratedRecord {
    static let databaseColumns = RecordColumns([
        "identifier", "document_title", "body_text", "createdAt", "average_rating", "isFavorite", "optional_comment",
        "documentUUID", "document_kind", "attributesAsJSON",
    ])

    var identifier: Int64
    var title, body: String
    var createdAt: Date
    var rating: Double
    var isFavorite: Bool
    var comment: String?
    var uuid: UUID
    var kind: DocumentKind
    var attributes: String

    init(row: Row) throws {
        try self.init(columns: row.reading(Self.databaseColumns))
    }

    init(columns: RecordRow) throws {
        identifier = try columns.value(0)
        title = try columns.value(1)
        body = try columns.value(2)
        createdAt = try columns.value(3)
        rating = try columns.value(4)
        isFavorite = try columns.value(5)
        comment = try columns.value(6)
        uuid = try columns.value(7)
        kind = try columns.value(8)
        attributes = try columns.value(9)
    }

    func encode(to values: RecordValues) {
        values.set(self.identifier, at: 0)
        values.set(self.title, at: 1)
        values.set(self.body, at: 2)
        values.set(self.createdAt, at: 3)
        values.set(self.rating, at: 4)
        values.set(self.isFavorite, at: 5)
        values.set(self.comment, at: 6)
        values.set(self.uuid, at: 7)
        values.set(self.kind, at: 8)
        values.set(self.attributes, at: 9)
    }

    var check: Int64 { identifier + Int64(title.utf8.count + body.utf8.count + (isFavorite ? 1 : 0)) }
}
