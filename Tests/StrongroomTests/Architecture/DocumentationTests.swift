import Foundation
import Testing

/// The rules of the article "Style and glossary" that a test can check.
@Suite("The documentation of the sources")
struct DocumentationTests {
    private static let sources = Result {
        try SourceDocumentation(SourceDocumentation.packageFolder.appendingPathComponent("Sources"))
    }

    private static let declarations = Result { try sources.get().publicDeclarations }

    /// The folders of the library, and the command line.
    private static let folders = SourceLayers.order + ["StrongroomCLI"]

    /// Two folders have next to nothing that is public.
    @Test(
        "The documentation of the sources of each folder covers 95 % of its public declarations",
        arguments: SourceLayers.order.filter { !["Synchronization", "Shim"].contains($0) })
    func coverage(folder: String) throws {
        let declarations = try Self.declarations.get().filter { $0.folder == folder }
        let missing = declarations.filter { !$0.isDocumented }
        #expect(declarations.count >= 5)
        #expect(
            missing.count * 20 <= declarations.count,
            "\(missing.count) of \(declarations.count):\n\(missing.map(\.description).joined(separator: "\n"))")
    }

    @Test("The documentation of the sources is counted in all folders")
    func table() throws {
        let counts = Dictionary(grouping: try Self.declarations.get(), by: \.folder)
        #expect(Set(SourceLayers.order).subtracting(counts.keys) == ["Synchronization"], "that has nothing public")
        for (folder, declarations) in counts.sorted(by: { $0.key < $1.key }) {
            let count = declarations.count(where: \.isDocumented)
            print("\(folder): \(count) of \(declarations.count), \(count * 100 / declarations.count) %")
        }
    }

    @Test(
        "The documentation of the sources begins with a summary: not with What, Whether, How, Who or The same",
        arguments: folders)
    func openings(folder: String) throws {
        let lines = try Self.sources.get().lines(in: folder)
        #expect(lines.count > 50)
        let openings = ["What", "Whether", "How", "Who", "Whoever", "The same"].map { "/// \($0) " }
        let found = lines.filter { line in
            let text = line.text.drop { $0 == " " } + " "
            return openings.contains { text.hasPrefix($0) }
        }
        #expect(found.isEmpty, "\(found.map(\.description).joined(separator: "\n"))")
    }

    @Test("The documentation of the sources of the articles has lines of at most 120 columns, except in tables")
    func articleColumns() throws {
        let files = try Articles.files()
        #expect(files.count > 25)
        let long = try files.flatMap { file in
            try Articles.text(ofFile: file).split(separator: "\n").filter { $0.count > 120 && !$0.hasPrefix("|") }
                .map { "\(file): \($0)" }
        }
        #expect(long.isEmpty, "\(long.joined(separator: "\n"))")
    }

    @Test(
        "The documentation of the sources would be found missing",
        arguments: [
            ("public func a() {}", false), ("/// Does it.\n    @inlinable\n    public func a() {}", true),
            ("/// Does it.\n\n    public let b = 1", false), ("open class C {}", false),
        ])
    func control(source: String, isDocumented: Bool) {
        let found = SourceDocumentation.publicDeclarations(in: source, file: "Core/File.swift")
        #expect(found.map(\.isDocumented) == [isDocumented])
    }
}
