import Foundation
import Testing

/// The sizes that the article "Style and glossary" states, of types and of files.
@Suite("The sizes of types and files")
struct SizeTests {
    private static let sources = Result {
        try SourceSizes(SourceDocumentation.packageFolder.appendingPathComponent("Sources"))
    }

    /// A type is declared in a folder. What it can do besides, for the subject of another folder, is declared there.
    private static let memberLimit = 60
    private static let lineLimit = 400

    @Test("A type has at most 60 members in the folder that declares it")
    func members() throws {
        let sizes = try Self.sources.get().members().sorted { $0.inOwnFolder > $1.inOwnFolder }
        #expect(sizes.count > 300)
        for size in sizes.prefix(12) { print(size) }
        let large = sizes.filter { $0.inOwnFolder > Self.memberLimit }
        #expect(large.isEmpty, "\(large.map(\.description).joined(separator: "\n"))")
    }

    @Test("A file has at most 400 lines", arguments: ["Sources", "Tests", "Shim"])
    func lines(folder: String) throws {
        let url = SourceDocumentation.packageFolder.appendingPathComponent(folder)
        let lengths = try SourceSizes.lineCounts(in: url)
        #expect(lengths.count > 5)
        let long = lengths.filter { $0.value > Self.lineLimit }
        #expect(long.isEmpty, "\(long.sorted { $0.value > $1.value })")
    }

    @Test("Members are counted in the type, in its extensions and by folder, and not inside functions and other types")
    func detection() {
        let sources = SourceSizes(files: [
            (
                "A/Box.swift",
                """
                /// A class Fake { in a comment
                public final class Box: Sendable {
                    let a = 1, text = "func no()"
                    @exclusivity(unchecked) private(set) var b: Int?
                    enum Kind {
                        case one
                    }

                    init() { var local = 1 }
                    func run() {
                        func inner() {}
                    }
                }
                """
            ),
            ("A/Box+More.swift", "extension Box: CustomStringConvertible {\n    public static func make() {}\n}\n"),
            ("B/Box+Else.swift", "extension Box {\n    @inlinable\n    subscript(i: Int) -> Int { 0 }\n}\n"),
            ("B/Kind.swift", "extension Box.Kind {\n    var other: Int { 0 }\n}\n"),
        ])
        let box = sources.members().first { $0.type == "Box" }
        #expect(box?.folder == "A")
        #expect(box?.inOwnFolder == 6)
        #expect(box?.inAllFolders == 7)
    }
}
