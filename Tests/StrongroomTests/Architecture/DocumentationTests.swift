import Foundation
import Testing

/// The rules of the article "Style and glossary" that a test can check.
@Suite("The documentation of the sources")
struct DocumentationTests {
    private static let sources = Result {
        try SourceDocumentation(SourceDocumentation.packageFolder.appendingPathComponent("Sources"))
    }

    /// The folders of the library, and the command line.
    private static let folders = SourceLayers.order + ["StrongroomCLI"]

    @Test(
        "The documentation of the sources of each folder covers 95 % of its public declarations",
        arguments: SourceLayers.order.filter { $0 != "Synchronization" })
    func coverage(folder: String) throws {
        let declarations = try Self.sources.get().publicDeclarations.filter { $0.folder == folder }
        let missing = declarations.filter { !$0.isDocumented }
        #expect(declarations.count >= 5)
        #expect(
            missing.count * 20 <= declarations.count,
            "\(missing.count) of \(declarations.count):\n\(missing.map(\.description).joined(separator: "\n"))")
    }

    @Test("The documentation of the sources is counted in all folders")
    func table() throws {
        let counts = Dictionary(grouping: try Self.sources.get().publicDeclarations, by: \.folder)
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
        let opening = /^ *\/\/\/ (?:What|Whether|How|Who|Whoever|The same)\b/
        let found = lines.filter { $0.text.firstMatch(of: opening) != nil }
        #expect(found.isEmpty, "\(found.map(\.description).joined(separator: "\n"))")
    }

    @Test("The documentation of the sources of the articles has lines of at most 120 columns, except in tables")
    func articleColumns() throws {
        let folder = SourceDocumentation.packageFolder.appendingPathComponent("Sources/Strongroom/Strongroom.docc")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        #expect(names.count > 25)
        let long = try names.flatMap { name in
            try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                .split(separator: "\n").filter { $0.count > 120 && !$0.hasPrefix("|") }.map { "\(name): \($0)" }
        }
        #expect(long.isEmpty, "\(long.joined(separator: "\n"))")
    }

    @Test("The documentation of the sources would be found missing", arguments: [
        ("public func a() {}", false), ("/// Does it.\n    @inlinable\n    public func a() {}", true),
        ("/// Does it.\n\n    public let b = 1", false), ("open class C {}", false),
    ])
    func control(source: String, isDocumented: Bool) {
        let found = SourceDocumentation.publicDeclarations(in: source, file: "Core/File.swift")
        #expect(found.map(\.isDocumented) == [isDocumented])
    }
}
