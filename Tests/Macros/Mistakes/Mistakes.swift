// Typechecked with -verify, which compares errors, their lines and their corrections with these comments.
import Foundation
import Strongroom

// expected-error@+1 {{@DatabaseRecord writes the code of structures and classes}}
@DatabaseRecord
enum Choice { case one }

// expected-error@+2 {{does not support generic types}}
@DatabaseRecord
struct Box<Content> { var content: Int }

// expected-error@+2 {{a record needs a stored property}}
@DatabaseRecord
struct Empty {}

@DatabaseRecord
struct Duplicate {
    var name: String
    // expected-error@+1 {{the column 'NAME' is that of 'name', too}}
    @DatabaseColumn("NAME") var other: String
}

@DatabaseRecord
struct Computed {
    var first: String
    // expected-note@+2 {{remove the attribute}} {{5-55=var full: String { first \}}}
    // expected-error@+1 {{'full' is computed, and a column needs a stored property}}
    @DatabaseColumn("full") var full: String { first }
}

@DatabaseRecord
struct Lists {
    // expected-note@+2 {{store it as JSON}} {{5-23=@DatabaseColumn(json: true) var tags: [String]}}
    // expected-error@+1 {{'tags' is [String], and no database value. Store it as JSON}}
    var tags: [String]
    // expected-note@+2 {{store it as JSON}} {{5-31=@DatabaseColumn(json: true) var counts: [String: Int]?}}
    // expected-error@+1 {{'counts' is [String: Int]?, and no database value}}
    var counts: [String: Int]?
    // expected-note@+2 {{store it as JSON}} {{5-27=@DatabaseColumn(json: true) var names: Set<String>}}
    // expected-error@+1 {{'names' is Set<String>, and no database value}}
    var names: Set<String>
    // expected-error@+1 {{'pair' is (Int, Int), which no column can store}}
    var pair: (Int, Int)
    // expected-error@+1 {{'action' is () -> Void, which no column can store}}
    var action: () -> Void
}

@DatabaseRecord
struct Constants {
    // expected-note@+2 {{make it a variable}} {{5-20=var version = 1}}
    // expected-error@+1 {{'version' is a constant with a value, which can't be read from a row}}
    let version = 1
    // expected-error@+1 {{'cache' is lazy, and a column needs a value at any time}}
    lazy var cache = 1
    // expected-error@+1 {{'state' is no column, and has no value where a row is read}}
    @NoDatabaseColumn var state: Int
}

@DatabaseRecord
struct Keys {
    // expected-error@+1 {{'code' can't take over the id of a row. Its type has to be Int64?}}
    @DatabaseColumn(primaryKey: true) var code: String
}

private let columnName = "name"

@DatabaseRecord
struct Arguments {
    // expected-error@+1 {{'name' has to be a literal}}
    @DatabaseColumn(columnName) var a: Int
    // expected-error@+1 {{a column needs a name}}
    @DatabaseColumn("") var b: Int
    // expected-error@+1 {{a custom strategy stores dates, but does not read them}}
    @DatabaseColumn(dates: .custom { $0.timeIntervalSince1970 }) var c: Date
    // expected-error@+1 {{'json' can't be combined with the other arguments}}
    @DatabaseColumn(dates: .iso8601, json: true) var d: Date
}
