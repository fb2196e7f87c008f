#if Macros
import SwiftSyntax

/// The code of a record, as a person would write it.
struct RecordCode {
    private let name: String
    private let table: String?
    private let properties: [RecordProperty]
    private let isClass: Bool
    private let access: String
    private let takesOverID: RecordProperty?

    /// True if an insertion changes the record.
    private let isChanged: Bool

    init(name: String, table: String?, properties: [RecordProperty], declaration: some DeclGroupSyntax) {
        self.name = name
        self.table = table
        self.properties = properties
        isClass = declaration.is(ClassDeclSyntax.self)
        let modifiers = declaration.modifiers.map(\.name.text)
        access =
            modifiers.contains("open")
            ? "public " : ["public", "package"].first(where: modifiers.contains).map { $0 + " " } ?? ""
        let functions = declaration.memberBlock.members.compactMap { $0.decl.as(FunctionDeclSyntax.self) }
        let callbacks = functions.filter { ["willInsert", "didInsert"].contains($0.name.text) }
        takesOverID = callbacks.contains { $0.name.text == "didInsert" } ? nil : properties.first(where: \.isKey)
        let mutates = callbacks.contains { $0.modifiers.contains { $0.name.text == "mutating" } }
        // An object receives the id of its row without being changed itself.
        isChanged = !isClass && (takesOverID != nil || mutates)
    }

    var conformances: [String] {
        // The compiler adds no inherited protocol that a macro may add.
        let saving = ["MutablePersistableRecord"] + (isChanged ? [] : ["PersistableRecord"])
        return (["FetchableRecord"] + saving + ["GeneratedRecord"]).map { "Strongroom." + $0 }
    }

    func members(withInitializers: Bool) -> [String] {
        var members = [columns, databaseColumns]
        if let table { members.append("\(access)static var databaseTableName: String { \(table) }") }
        members.append(selection)
        if withInitializers { members += initializers }
        members += [encode, encodeByPlace]
        if let takesOverID { members.append(didInsert(takesOverID)) }
        return members
    }

    // MARK: - Columns

    private var ownColumns: [RecordProperty] { properties.filter { !$0.isPart } }

    private var columns: String {
        let lines = ownColumns.map {
            "\(access)static let \($0.name) = Strongroom.Column(\(quoted($0.column)))"
        }
        return "\(access)enum Columns {\n\(lines.joined(separator: "\n"))\n}"
    }

    private var databaseColumns: String {
        var lists: [String] = []
        var names: [String] = []
        func endNames() {
            if !names.isEmpty { lists.append("[\(names.joined(separator: ", "))]") }
            names = []
        }
        for property in properties {
            if case .part(let prefix) = property.storage {
                endNames()
                lists.append("\(property.partType).databaseColumns.names(prefixedBy: \(quoted(prefix)))")
            } else {
                names.append(quoted(property.column))
            }
        }
        endNames()
        return "\(access)static let databaseColumns = Strongroom.RecordColumns(\(lists.joined(separator: " + ")))"
    }

    private var selection: String {
        """
        \(access)static var databaseSelection: [any Strongroom.SQLSelectable] {
        databaseColumns.names.map { Strongroom.Column($0) }
        }
        """
    }

    // MARK: - Reading

    var initializers: [String] {
        let required = isClass ? "required " : ""
        return [
            """
            \(access)\(required)\(isClass ? "convenience " : "")init(row: Strongroom.Row) throws {
            try self.init(columns: row.reading(Self.databaseColumns))
            }
            """,
            """
            \(access)\(required)init(columns: Strongroom.RecordRow) throws {
            \(reading.joined(separator: "\n"))
            }
            """,
        ]
    }

    private var reading: [String] {
        placed.map { property, place in
            let line: String
            switch property.storage {
            case .value: line = "self.\(property.name) = try columns.value(\(place))"
            case .date(let strategy):
                // What stores whole seconds is read as seconds.
                let strategy = strategy.replacingSuffix(".secondsSince1970", by: ".timeIntervalSince1970")
                line = "self.\(property.name) = try columns.date(\(place), \(strategy))"
            case .json:
                let decoder = "Self.databaseJSONDecoder(for: \(quoted(property.column)))"
                line = "self.\(property.name) = try columns.json(\(place), \(decoder))"
            case .part: return "self.\(property.name) = try columns.part(from: \(place))"
            }
            return property.hasDefault ? "if columns.has(\(place)) { \(line) }" : line
        }
    }

    /// The properties, each with the place of its first column.
    private var placed: [(property: RecordProperty, place: String)] {
        var parts: [String] = [], next = 0
        return properties.map { property in
            let place = ([String(next)] + parts).joined(separator: " + ")
            if property.isPart {
                parts.append("\(property.partType).databaseColumns.names.count")
            } else {
                next += 1
            }
            return (property, place)
        }
    }

    // MARK: - Saving

    private var encode: String {
        """
        \(access)func encode(to container: inout Strongroom.PersistenceContainer) throws {
        try container.set(self)
        }
        """
    }

    private var encodeByPlace: String {
        let lines = placed.map { property, place in
            switch property.storage {
            case .value: return "values.set(self.\(property.name), at: \(place))"
            case .date(let strategy): return "values.set(self.\(property.name), at: \(place), \(strategy))"
            case .json:
                let encoder = "Self.databaseJSONEncoder(for: \(quoted(property.column)))"
                return "try values.setJSON(self.\(property.name), at: \(place), \(encoder))"
            case .part: return "try values.set(part: self.\(property.name), from: \(place))"
            }
        }
        return """
            \(access)func encode(to values: Strongroom.RecordValues) throws {
            \(lines.joined(separator: "\n"))
            }
            """
    }

    private func didInsert(_ property: RecordProperty) -> String {
        """
        \(access)\(isClass ? "" : "mutating ")func didInsert(_ inserted: Strongroom.InsertionSuccess) {
        self.\(property.name) = inserted.rowID
        }
        """
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "\""
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String, by other: String) -> String {
        hasSuffix(suffix) ? dropLast(suffix.count) + other : self
    }
}
#endif
