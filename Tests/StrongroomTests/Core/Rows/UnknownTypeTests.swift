import Foundation
import Strongroom
import Testing

@Suite("A value whose type is known only at run time")
struct UnknownTypeTests {
    private enum Kind: String, DatabaseValueConvertible, Codable {
        case letter, invoice
    }

    /// Tells by which conversion it was read.
    private struct Origin: DatabaseValueConvertible, StatementColumnConvertible, Codable, Equatable {
        var origin: String
        var databaseValue: DatabaseValue { origin.databaseValue }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Origin? {
            dbValue.isNull ? nil : Origin(origin: "value")
        }

        init(origin: String) { self.origin = origin }
        init?(sqliteStatement: SQLiteStatement, index: CInt) { self.init(origin: "column") }
    }

    private struct Record<Value: Codable>: FetchableRecord, Codable {
        var value: Value
    }

    /// Reads the value in generic code, without and with Codable.
    @inline(never)
    private func value<T: DatabaseValueConvertible & Codable>(_ sql: String, as type: T.Type) throws -> [T] {
        try withDatabase { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT \(sql) AS value")
            let row = try #require(try rows.next())
            return [
                try row.decode(T.self, atIndex: 0), try row.copy().decode(T.self, atIndex: 0),
                try Record<T>(row: row).value, try Record<T>(row: row.copy()).value,
            ]
        }
    }

    @Test("is converted as in code that knows the type")
    func values() throws {
        #expect(try value("'invoice'", as: Kind.self) == [.invoice, .invoice, .invoice, .invoice])
        #expect(try value("'invoice'", as: Kind?.self) == [.invoice, .invoice, .invoice, .invoice])
        #expect(try value("1", as: Date.self) == Array(repeating: Date(timeIntervalSince1970: 1), count: 4))
        #expect(try value("NULL", as: Kind?.self) == [nil, nil, nil, nil])
        #expect(try value("NULL", as: Date?.self) == [nil, nil, nil, nil])
    }

    @Test("is read by Codable from the statement's column if its type has such a conversion, in an optional as well")
    func columns() throws {
        let origins = try value("1", as: Origin.self).map(\.origin)
        #expect(origins == ["value", "value", "column", "value"])
        #expect(try value("1", as: Origin?.self).map { $0?.origin } == ["value", "value", "column", "value"])
        #expect(try value("NULL", as: Origin?.self) == [nil, nil, nil, nil])
    }

    @Test("is an error that names the column if it can't be converted")
    func errors() throws {
        for sql in ["'bill'", "NULL", "x'00'"] {
            let error = #expect(throws: RowDecodingError.self) { try value(sql, as: Kind.self) }
            #expect(error?.description.contains("could not decode Kind") == true)
            #expect(error?.description.contains("column: \"value\"") == true)
        }
        #expect(throws: RowDecodingError.self) { try value("'bill'", as: Kind?.self) }
    }
}
