import Foundation
import Strongroom
import Testing

/// The records of one type share an encoder.
@Suite("Codable records that are saved one after the other")
struct RepeatedEncodingTests {
    private func rows(
        _ columns: String, _ save: (Database) throws -> Void
    ) throws -> [[DatabaseValue]] {
        try savedRows(of: "part", columns, save)
    }

    @Test("may have their columns in another order each time")
    func order() throws {
        struct Part: Encodable, PersistableRecord {
            enum CodingKeys: CodingKey { case a, b, c }
            var order: [CodingKeys]
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                for key in order { try container.encode("\(key)", forKey: key) }
            }
        }
        let orders: [[Part.CodingKeys]] = [
            [.a, .b, .c], [.a, .b, .c], [.a, .b, .c], [.c, .b, .a], [.b, .a, .c], [.b, .c, .a], [.a, .b, .c],
            [.a], [.a, .c], [.b], [.a, .b, .c], [.a, .b, .b, .c], [.c, .c], [.a, .b, .c], [.a, .b, .c],
        ]
        let saved = try rows("a, b, c") { db in for order in orders { try Part(order: order).insert(db) } }
        #expect(
            saved
                == orders.map { order in
                    [Part.CodingKeys.a, .b, .c].map { order.contains($0) ? "\($0)".databaseValue : .null }
                })
    }

    @Test("may set columns beside those of their keys")
    func others() throws {
        struct Part: Codable, PersistableRecord {
            var a: Int, b: Int
            func encode(to container: inout PersistenceContainer) throws {
                if a % 3 == 0 { container["c"] = a }
                if a % 3 == 1 { container["b"] = -1 }
                try encodeProperties(to: &container)
                container["d"] = b
            }
            private func encodeProperties(to container: inout PersistenceContainer) throws {
                try Properties(a: a, b: b).encode(to: &container)
            }
            struct Properties: Encodable, EncodableRecord { var a: Int, b: Int }
        }
        let saved = try rows("a, b, c, d") { db in for n in 0..<12 { try Part(a: n, b: n + 100).insert(db) } }
        #expect(
            saved
                == (0..<12).map { n in
                    [
                        n.databaseValue, (n + 100).databaseValue, n % 3 == 0 ? n.databaseValue : .null,
                        (n + 100).databaseValue,
                    ]
                })
    }

    @Test("may have keys of another type, and be records of another type, in between")
    func types() throws {
        struct Left: Encodable, PersistableRecord {
            static let databaseTableName = "part"
            enum Even: CodingKey { case a, b }
            enum Odd: CodingKey { case b, a }
            var a: Int
            func encode(to encoder: any Encoder) throws {
                if a % 4 < 2 {
                    var container = encoder.container(keyedBy: Even.self)
                    try container.encode(a, forKey: .a)
                    try container.encode(-a, forKey: .b)
                } else {
                    var container = encoder.container(keyedBy: Odd.self)
                    try container.encode(a, forKey: .a)
                    try container.encode(-a, forKey: .b)
                }
            }
        }
        struct Right: Codable, PersistableRecord {
            static let databaseTableName = "part"
            var b: Int, a: Int
        }
        let saved = try rows("a, b") { db in
            for n in 0..<16 {
                if n % 5 == 4 { try Right(b: -n, a: n).insert(db) } else { try Left(a: n).insert(db) }
            }
        }
        #expect(saved == (0..<16).map { [$0.databaseValue, (-$0).databaseValue] })
    }

    @Test("may change their strategy for columns")
    func strategies() throws {
        struct Part: Codable, PersistableRecord {
            nonisolated(unsafe) static var strategy = DatabaseColumnEncodingStrategy.useDefaultKeys
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { strategy }
            var aB: Int, cD: Int
        }
        let strategies: [DatabaseColumnEncodingStrategy] = [
            .useDefaultKeys, .useDefaultKeys, .useDefaultKeys, .convertToSnakeCase, .convertToSnakeCase,
            .convertToSnakeCase, .useDefaultKeys, .useDefaultKeys, .custom { $0.stringValue == "aB" ? "cD" : "aB" },
            .custom { $0.stringValue == "aB" ? "cD" : "aB" }, .useDefaultKeys,
        ]
        let saved = try rows("aB, cD, a_b, c_d") { db in
            for strategy in strategies {
                Part.strategy = strategy
                try Part(aB: 1, cD: 2).insert(db)
            }
        }
        let one = 1.databaseValue, two = 2.databaseValue, none = DatabaseValue.null
        let plain = [one, two, none, none], snake = [none, none, one, two], swapped = [two, one, none, none]
        #expect(saved == [plain, plain, plain, snake, snake, snake, plain, plain, swapped, swapped, plain])
    }

    @Test("may fail to encode, and encode another record of their type into the same columns")
    func failures() throws {
        struct Failure: Error {}
        struct Part: Encodable, PersistableRecord {
            final class Inner: Sendable {
                let part: Part
                init(_ part: Part) { self.part = part }
            }
            var a: Int, b: Int
            var inner: Inner?
            enum CodingKeys: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                if let inner {
                    var single = encoder.singleValueContainer()
                    try single.encode(inner.part)
                }
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(a, forKey: .a)
                if a < 0 { throw Failure() }
                try container.encode(b, forKey: .b)
            }
        }
        let saved = try rows("a, b") { db in
            for n in 0..<6 {
                try Part(a: n, b: n + 1, inner: n % 2 == 0 ? Part.Inner(Part(a: 7, b: 8)) : nil).insert(db)
                #expect(throws: Failure.self) { try Part(a: -1, b: 0).insert(db) }
                #expect(throws: Failure.self) { try Part(a: 1, b: 0, inner: Part.Inner(Part(a: -1, b: 8))).insert(db) }
            }
        }
        #expect(saved == (0..<6).map { [$0.databaseValue, ($0 + 1).databaseValue] })
    }

    @Test("leave the columns alone that a record inside of them has kept")
    func keptColumns() throws {
        final class Kept { var containers: [PersistenceContainer] = [] }
        struct Inner: Encodable, EncodableRecord {
            let kept: Kept
            func encode(to encoder: any Encoder) throws {}
            func encode(to container: inout PersistenceContainer) {
                container["a"] = kept.containers.count
                kept.containers.append(container)
            }
        }
        struct Part: Encodable, PersistableRecord {
            enum CodingKeys: CodingKey { case a, b }
            let kept: Kept
            func encode(to encoder: any Encoder) throws {
                var single = encoder.singleValueContainer()
                try single.encode(Inner(kept: kept))
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(-1, forKey: .a)
                try container.encode("b", forKey: .b)
            }
        }
        let kept = Kept()
        let saved = try rows("a, b") { db in for _ in 0..<5 { try Part(kept: kept).insert(db) } }
        #expect(saved == Array(repeating: [(-1).databaseValue, "b".databaseValue], count: 5))
        #expect(kept.containers.map { Array($0.map(\.1)) } == (0..<5).map { [$0.databaseValue] })
    }

    @Test("may compute the names of their keys")
    func computedNames() throws {
        struct Part: Codable, PersistableRecord {
            @TaskLocal static var language = ""
            enum CodingKeys: CodingKey {
                case id, title
                var stringValue: String { self == .id ? "id" : "title" + Part.language }
            }
            var id: Int, title: String
        }
        let languages = ["_en", "_en", "_en", "_de", "_de", "_de", "_en", "_en"]
        let saved = try rows("id, title_en, title_de") { db in
            for (id, language) in languages.enumerated() {
                try Part.$language.withValue(language) { try Part(id: id, title: "t\(id)").insert(db) }
            }
        }
        #expect(
            saved
                == languages.enumerated().map { id, language in
                    let title = "t\(id)".databaseValue
                    return [id.databaseValue, language == "_en" ? title : .null, language == "_de" ? title : .null]
                })
    }

    @Test("leave no encoder behind")
    func memory() throws {
        final class Witness: Sendable {}
        struct Part: Encodable, PersistableRecord {
            nonisolated(unsafe) static var witness: Witness?
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy {
                .custom { [witness] key in
                    withExtendedLifetime(witness) { key.stringValue }
                }
            }
            var a: Int, b: Int
        }
        Part.witness = Witness()
        weak let witness = Part.witness
        _ = try rows("a, b") { db in for n in 0..<3 { try Part(a: n, b: n).insert(db) } }
        #expect(witness != nil)
        Part.witness = nil
        // The encoder of the closed connection held the strategy, which holds the witness.
        #expect(witness == nil)
    }
}
