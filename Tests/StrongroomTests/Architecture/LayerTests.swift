import Foundation
import TestSupport
import Testing

/// The layers of the article "Layers and invariants": a layer refers to itself and to those below it.
@Suite("The layers of the library")
struct LayerTests {
    private static let sources = Result {
        try SourceLayers(SourceDocumentation.packageFolder.appendingPathComponent("Sources/Strongroom"))
    }

    @Test("The top level of the package has its eight entries, and no file that a test or a program has left")
    func topLevel() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: SourceDocumentation.packageFolder.path)
        // What .gitignore names is made by Swift and Xcode.
        let kept = names.filter { ![".", "Package.resolved", "DerivedData"].contains(where: $0.hasPrefix) }
        #expect(
            Set(kept.filter { !$0.hasSuffix(".xcodeproj") }) == [
                "CHANGELOG.md", "LICENSE", "Package.swift", "README.md", "Shim", "Sources", "Tests", "scripts",
            ])
    }

    @Test("Each file belongs to a layer, and each layer has files")
    func folders() throws {
        let files = try Self.sources.get().files
        #expect(Set(files.map(\.layer)) == Set(SourceLayers.order))
        for (layer, sets) in SourceLayers.inner {
            #expect(Set(files.filter { $0.layer == layer }.map(\.folder)) == sets.reduce([]) { $0.union($1) })
        }
    }

    @Test("No layer, and no folder of a layer with an order, refers to a type of a higher one")
    func types() throws {
        let references = try Self.sources.get().typeReferences()
        print(Self.table(of: references))
        #expect(references.count > 2000)
        let upwards = references.filter(\.pointsUp)
        #expect(upwards.isEmpty, "\(upwards.map(\.description).joined(separator: "\n"))")
    }

    @Test("No layer uses a member that a higher one adds to a type")
    func members() throws {
        let references = try Self.sources.get().memberReferences()
        #expect(references.count > 2000)
        let upwards = references.filter { $0.pointsUp && !SourceLayers.common.contains($0.name) }
        #expect(upwards.isEmpty, "\(upwards.map(\.description).joined(separator: "\n"))")
    }

    @Test(
        "The folders of a layer refer to each other in one direction, except for the cycles that Layers names",
        arguments: SourceLayers.inner.keys.sorted())
    func graph(layer: String) throws {
        let sources = try Self.sources.get(), references = sources.typeReferences() + sources.certainMembers(in: layer)
        let graph = SourceGraph(of: layer, references)
        print("\(layer)\n\(graph)")
        #expect(graph.counts.values.reduce(0) { $0 + $1.count } > 15)
        #expect(graph.cycles == Set(SourceLayers.inner[layer]!.filter { $0.count > 1 }))
    }

    @Test("A cycle of folders is found, directly and through others")
    func controlOfCycles() {
        let line = ["A": ["B": 1], "B": ["C": 1], "D": ["A": 1, "C": 2]]
        #expect(SourceGraph(counts: line).cycles == [])
        #expect(SourceGraph(counts: line.merging(["C": ["A": 1]]) { $1 }).cycles == [["A", "B", "C"]])
        #expect(SourceGraph(counts: ["A": ["B": 1], "B": ["A": 3]]).cycles == [["A", "B"]])
    }

    @Test("The names that Swift has too are not more than needed")
    func common() throws {
        let upwards = try Self.sources.get().memberReferences().filter(\.pointsUp)
        #expect(SourceLayers.common.subtracting(upwards.map(\.name)) == [])
    }

    /// The number of references of each layer to each other one.
    private static func table(of references: [SourceLayers.Reference]) -> String {
        let counts = Dictionary(grouping: references) { $0.from.layer }.mapValues {
            Dictionary(grouping: $0) { $0.to.layer }.mapValues(\.count)
        }
        return SourceLayers.order.reversed().map { from in
            let uses = SourceLayers.order.reversed().compactMap { to in counts[from]?[to].map { "\(to) \($0)" } }
            return "\(from): \(uses.isEmpty ? "nothing" : uses.joined(separator: ", "))"
        }.joined(separator: "\n")
    }
}

/// Controls of the reading of sources.
extension LayerTests {
    private static func sources(_ files: [String: String]) throws -> SourceLayers {
        let folder = try TemporaryFolder()
        for (path, text) in files {
            let file = URL(fileURLWithPath: folder.path(path))
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        return try SourceLayers(URL(fileURLWithPath: folder.path))
    }

    @Test("A type of a higher layer or folder is found, and not in comments and literals")
    func controlOfTypes() throws {
        let sources = try Self.sources([
            "Core/Low.swift": """
            final class Low {
                // A High in a comment
                let text = "A High in a literal, and \\(High.self) in an interpolation"
                let raw = #"A High \\(High.self)"#, block = \"""
                    A High in "quotes", and \\(High())
                    \"""
            }
            """,
            "Access/High.swift": "public struct High {\n    let low: Low\n}\n",
            "Core/Statements/Run.swift": "struct Run {\n    let row: Line\n}\n",
            "Core/Rows/Line.swift": "struct Line {\n    let run: Run?\n}\n",
        ])
        #expect(sources.typeReferences().filter(\.pointsUp).map(\.name).sorted() == ["High", "High", "Line"])
        #expect(sources.typeReferences().map(\.name).sorted() == ["High", "High", "Line", "Low", "Run"])
    }

    /// A declaration in the layer `Cipher`, a use of it in `Keys`, and a declaration there of the same name.
    struct Control: Sendable {
        let declaration: String
        let use: String
        var namesake = ""
        var isFound = true
    }

    static let controls = [
        // As `DatabaseError.emptyKey`, beside a reason of that name.
        Control(
            declaration: "extension Failure {\n    static let emptyKey = Failure(1)\n}", use: "throw Failure.emptyKey",
            namesake: "struct Failure { let code: Int }\nenum Reason { case emptyKey }"),
        // As `DatabaseError.olderSlotFile(_:_:)`. Without its type, it may be the case.
        Control(
            declaration: "extension Failure {\n    static func older(_ a: Int, _ b: Int) -> Failure { Failure(a) }\n}",
            use: "throw .older(1, 2)", namesake: "struct Failure { let code: Int }\nenum Reason { case older(Int) }",
            isFound: false),
        Control(
            declaration: "extension Failure {\n    static func older(_ a: Int, _ b: Int) -> Failure { Failure(a) }\n}",
            use: "throw Failure.older(1, 2)",
            namesake: "struct Failure { let code: Int }\nenum Reason { case older(Int) }"),
        // As `Database.reusableStatement(_:)`, beside `reusableStatement(sql:)`.
        Control(
            declaration: "extension Low {\n    func statement(_ write: (Int) -> Void) {}\n}",
            use: "low.statement { _ in }",
            namesake: "struct Low { func statement(sql: String) {} }"),
        Control(
            declaration: "extension Low {\n    func statement(_ write: (Int) -> Void) {}\n}",
            use: "low.statement(sql: a)",
            namesake: "struct Low { func statement(sql: String) {} }", isFound: false),
        // As `DatabaseValue.sqlLiteral`, beside a private property of that name in another file.
        Control(
            declaration: "extension String {\n    var literal: String { self }\n}", use: "return text.literal",
            namesake: "struct Request { private let literal: Int }"),
        Control(
            declaration: "extension String {\n    var literal: String { self }\n}", use: "return text.literal",
            namesake: "struct Request { let literal: Int }", isFound: false),
        // An initializer, a function without its arguments, a nested type, and a property of a connection.
        Control(
            declaration: "extension Failure {\n    init(code: Int, text: String) { self.init(code) }\n}",
            use: "throw Failure(code: 1, text: a)", namesake: "struct Failure { init(_ code: Int) {} }"),
        Control(
            declaration: "extension Low {\n    func isWhole(_ a: Int) -> Bool { true }\n}",
            use: "return all.map(low.isWhole)"),
        Control(declaration: "extension Low {\n    enum Level { case high }\n}", use: "let level: Low.Level"),
        Control(declaration: "extension Low {\n    var rotation: Int { 1 }\n}", use: "low.rotation.finish()"),
        // A local variable, a parameter and a label are no members.
        Control(
            declaration: "extension Low {\n    var rotation: Int { 1 }\n}", use: "let rotation = 2; print(rotation)",
            isFound: false),
        Control(declaration: "extension Low {\n    var rotation: Int { 1 }\n}", use: "f(rotation: 2)", isFound: false),
        Control(
            declaration: "extension Low {\n    var rotation: Int { 1 }\n}", use: "all.map { rotation in rotation }",
            isFound: false),
    ]

    @Test("A member of a higher layer is found by its type, its labels and its closure", arguments: controls)
    func controlOfMembers(_ control: Control) throws {
        let sources = try Self.sources([
            "Keys/Use.swift": "func use() throws {\n    \(control.use)\n}\n",
            "Errors/Namesake.swift": control.namesake + "\n",
            "Cipher/Declaration.swift": control.declaration + "\n",
        ])
        let upwards = sources.memberReferences().filter { $0.pointsUp && $0.from.path == "Keys/Use.swift" }
        #expect(upwards.count == (control.isFound ? 1 : 0), "\(upwards)")
    }
}
