import Strongroom
import Testing

/// Values of known and of unknown type go into a container by different subscripts: programs must not notice.
@Suite("The columns of a record")
struct PersistenceContainerTests {
    private enum Side: String, DatabaseValueConvertible { case left }

    /// A record that encodes itself by a closure.
    private struct Encoded: EncodableRecord {
        var encoding: (inout PersistenceContainer) -> Void

        func encode(to container: inout PersistenceContainer) { encoding(&container) }

        var stored: [String: DatabaseValue] {
            get throws { try databaseDictionary }
        }
    }

    private let unset: Int? = nil
    private let set: Int? = 2
    private let unwrapped: String! = "i"

    @Test("The columns of a record take values, optional values and nil")
    func values() throws {
        let stored = try Encoded { container in
            container["integer"] = 1
            container["double"] = 1.5
            container["text"] = "t"
            container["side"] = Side.left
            container["set"] = set
            container["unset"] = unset
            container["nothing"] = nil
            container["unwrapped"] = unwrapped
        }.stored
        #expect(
            stored == [
                "integer": 1.databaseValue, "double": 1.5.databaseValue, "text": "t".databaseValue,
                "side": "left".databaseValue,
                "set": 2.databaseValue, "unset": .null, "nothing": .null, "unwrapped": "i".databaseValue,
            ])
    }

    @Test("The columns of a record accept values whose type is only known at run time")
    func existentials() throws {
        let one: any DatabaseValueConvertible = 1
        let perhaps: (any DatabaseValueConvertible)? = "p"
        let never: (any DatabaseValueConvertible)? = nil
        let some: some DatabaseValueConvertible = 7
        let stored = try Encoded { container in
            container["one"] = one
            container["perhaps"] = perhaps
            container["never"] = never
            container["some"] = some
            container["mixed"] = set == nil ? 1 : "x"
            container[Column("column")] = perhaps
        }.stored
        #expect(
            stored == [
                "one": 1.databaseValue, "perhaps": "p".databaseValue, "never": .null, "some": 7.databaseValue,
                "mixed": "x".databaseValue, "column": "p".databaseValue,
            ])
    }

    @Test("The columns of a record take values by columns")
    func columns() throws {
        let stored = try Encoded { container in
            container[Column("a")] = 1
            container[Column("b")] = set
            container[Column("c")] = unset
            container[Column("d")] = nil
            container[Column("A")] = 3
        }.stored
        #expect(stored == ["a": 3.databaseValue, "b": 2.databaseValue, "c": .null, "d": .null])
    }

    @Test("The columns of a record are read as stored, or nil if they were not set")
    func reading() throws {
        let stored = try Encoded { container in
            container["a"] = 1
            container["b"] = nil
            #expect(container["a"] as? Int64 == 1)
            #expect(container["a"]?.databaseValue == 1.databaseValue)
            #expect(container[Column("A")] as? Int64 == 1)
            #expect(container["b"]?.databaseValue == .null)
            #expect(container["c"] == nil)
            #expect((container["c"] ?? "none").databaseValue == "none".databaseValue)
            container["c"] = container["a"]
        }.stored
        #expect(stored == ["a": 1.databaseValue, "b": .null, "c": 1.databaseValue])
    }

    @Test("The columns of a record are read as the requested type")
    func typedReading() throws {
        _ = try Encoded { container in
            container["a"] = 1
            let typed: Int? = container["a"]
            let missing: Int? = container["nowhere"]
            #expect(typed == 1)
            #expect(missing == nil)
        }.stored
    }

    @Test("The columns of a record stop a program that reads another type than was set")
    func wrongType() async {
        await #expect(processExitsWith: .failure) {
            _ = try Encoded { container in
                container["a"] = "text"
                let number: Int = container["a"]
                print(number)
            }.stored
        }
    }
}
