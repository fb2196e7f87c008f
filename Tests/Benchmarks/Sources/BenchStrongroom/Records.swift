import Foundation
import Workload

// The rows of the work as records: written out, and derived from Codable. Columns have names as applications have them.

protocol WideRecord: FetchableRecord, PersistableRecord, Sendable {
    init(n: Int64)
    var sum: Int64 { get }
}

extension WideRecord {
    static var databaseTableName: String { "inserted" }
}

struct PlainWide: WideRecord {
    var customerIdentifier, createdAt, updatedAt, shippingAddressIdentifier, warehouseLocationNumber: Int64
    var quantityOrdered, unitPriceInCents, discountPercentage, revisionNumber, archivedAt: Int64

    init(n: Int64) {
        (customerIdentifier, createdAt, updatedAt, shippingAddressIdentifier) = (n, n + 1, n + 2, n + 3)
        (warehouseLocationNumber, quantityOrdered, unitPriceInCents) = (n + 4, n + 5, n + 6)
        (discountPercentage, revisionNumber, archivedAt) = (n + 7, n + 8, n + 9)
    }

    init(row: Row) {
        customerIdentifier = row["customer_identifier"]
        createdAt = row["created_at"]
        updatedAt = row["updatedAt"]
        shippingAddressIdentifier = row["shipping_address_identifier"]
        warehouseLocationNumber = row["warehouseLocationNumber"]
        quantityOrdered = row["quantity_ordered"]
        unitPriceInCents = row["unitPriceInCents"]
        discountPercentage = row["discount_percentage"]
        revisionNumber = row["revisionNumber"]
        archivedAt = row["archived_at"]
    }

    func encode(to container: inout PersistenceContainer) {
        container["customer_identifier"] = customerIdentifier
        container["created_at"] = createdAt
        container["updatedAt"] = updatedAt
        container["shipping_address_identifier"] = shippingAddressIdentifier
        container["warehouseLocationNumber"] = warehouseLocationNumber
        container["quantity_ordered"] = quantityOrdered
        container["unitPriceInCents"] = unitPriceInCents
        container["discount_percentage"] = discountPercentage
        container["revisionNumber"] = revisionNumber
        container["archived_at"] = archivedAt
    }

    var sum: Int64 {
        let first = customerIdentifier + createdAt + updatedAt + shippingAddressIdentifier + warehouseLocationNumber
        return first + quantityOrdered + unitPriceInCents + discountPercentage + revisionNumber + archivedAt
    }
}

struct CodableWide: WideRecord, Codable {
    var customer_identifier, created_at, updatedAt, shipping_address_identifier, warehouseLocationNumber: Int64
    var quantity_ordered, unitPriceInCents, discount_percentage, revisionNumber, archived_at: Int64

    init(n: Int64) {
        (customer_identifier, created_at, updatedAt, shipping_address_identifier) = (n, n + 1, n + 2, n + 3)
        (warehouseLocationNumber, quantity_ordered, unitPriceInCents) = (n + 4, n + 5, n + 6)
        (discount_percentage, revisionNumber, archived_at) = (n + 7, n + 8, n + 9)
    }

    var sum: Int64 {
        let first = customer_identifier + created_at + updatedAt + shipping_address_identifier
        let last = unitPriceInCents + discount_percentage + revisionNumber + archived_at
        return first + warehouseLocationNumber + quantity_ordered + last
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
