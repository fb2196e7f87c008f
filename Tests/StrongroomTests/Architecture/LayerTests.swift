import Foundation
import Testing

/// The layers of the article "Layers and invariants": a layer refers to itself and to those below it.
@Suite("The layers of the library")
struct LayerTests {
    private static let sources = Result {
        try SourceLayers(
            URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources/Strongroom"))
    }

    @Test("Each file belongs to a layer, and each layer has files")
    func folders() throws {
        let layers = try Set(Self.sources.get().files.map(\.layer))
        #expect(layers == Set(SourceLayers.order))
    }

    @Test("No layer refers to a type of a higher one")
    func types() throws {
        let references = try Self.sources.get().typeReferences()
        print(Self.table(of: references))
        #expect(references.count > 2000)
        let upwards = references.filter { SourceLayers.rank($0.to) > SourceLayers.rank($0.from) }
        #expect(upwards.isEmpty, "\(upwards.map(\.description).joined(separator: "\n"))")
    }

    @Test("In the core, connections and statements refer to no type of rows and expressions, and cursors to neither")
    func core() throws {
        let sources = try Self.sources.get()
        let folders = Set(sources.files.compactMap(\.coreFolder))
        #expect(folders == SourceLayers.coreOrder.reduce(["Values"]) { $0.union($1) })
        let upwards = sources.coreReferencesUpwards()
        #expect(upwards.isEmpty, "\(upwards.map(\.description).joined(separator: "\n"))")
    }

    @Test("No layer uses what a higher one adds to the connection")
    func members() throws {
        let upwards = try Self.sources.get().memberReferencesUpwards()
        #expect(upwards.isEmpty, "\(upwards.map(\.description).joined(separator: "\n"))")
    }

    @Test("An arrow upwards is found, in types and in members, and not in comments and literals")
    func detection() throws {
        let folder = try TemporaryFolder()
        func write(_ path: String, _ text: String) throws {
            let file = URL(fileURLWithPath: folder.path(path))
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        try write("Core/Low.swift", """
            final class Low {
                // A High in a comment
                let text = "A High in a literal, and \\(High.self) in an interpolation"
                func use(_ db: Database) { db.addedAbove() }
            }
            """)
        try write("Access/High.swift",
            "public struct High {\n    let low: Low\n}\n\nextension Database {\n    func addedAbove() {}\n}\n")
        try write("Core/Statements/Run.swift", "struct Run {\n    let row: Line\n}\n")
        try write("Core/Rows/Line.swift", "struct Line {\n    let run: Run?\n}\n")
        let sources = try SourceLayers(URL(fileURLWithPath: folder.path))
        #expect(sources.coreReferencesUpwards().map(\.name) == ["Line"])
        #expect(sources.typeReferences().map(\.name).sorted() == ["High", "Low"])
        #expect(sources.memberReferencesUpwards().map(\.name) == ["addedAbove"])
    }

    /// How often each layer refers to each other one.
    private static func table(of references: [SourceLayers.Reference]) -> String {
        let counts = Dictionary(grouping: references) { $0.from }.mapValues {
            Dictionary(grouping: $0) { $0.to }.mapValues(\.count)
        }
        return SourceLayers.order.reversed().map { from in
            let uses = SourceLayers.order.reversed().compactMap { to in counts[from]?[to].map { "\(to) \($0)" } }
            return "\(from): \(uses.isEmpty ? "nothing" : uses.joined(separator: ", "))"
        }.joined(separator: "\n")
    }
}
