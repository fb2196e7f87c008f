import Foundation
import Testing

/// The links of the documentation, without the network.
@Suite("The links of the documentation")
struct LinkTests {
    private struct Link: CustomStringConvertible {
        let file: String
        let target: String
        var description: String { "\(file): \(target)" }
    }

    private static let root = SourceDocumentation.packageFolder

    /// Markdown files, by their path in the package.
    private static func files() throws -> [String] {
        let folder = root.appendingPathComponent(".github")
        let forge = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        return try Articles.files() + ["README.md", "CHANGELOG.md"] + forge.sorted().map { ".github/\($0)" }
    }

    private static func text(_ file: String) throws -> String { try Articles.text(ofFile: file) }

    /// Links of the forms `[text](target)`, `![text](target)` and `[name]: target`.
    private static func links() throws -> [Link] {
        try files().flatMap { file in
            let text = try text(file)
            let inline = text.matches(of: /\]\(([^)\s]+)\)/).map { String($0.1) }
            let references = text.matches(of: /(?m)^\[[^\]]+\]: (\S+)$/).map { String($0.1) }
            return (inline + references).map { Link(file: file, target: $0) }
        }
    }

    @Test("The links of the documentation to articles name articles")
    func articles() throws {
        let names = Set(try Articles.names())
        var count = 0
        for file in try Self.files() {
            for match in try Self.text(file).matches(of: /<doc:([\w-]+)>/) {
                count += 1
                #expect(names.contains(String(match.1)), "\(file): \(match.1)")
            }
        }
        #expect(count > 60)
    }

    @Test("The links of the documentation lead from the first page to each article")
    func topics() throws {
        var reached: Set = ["Strongroom"], next = ["Strongroom"]
        while let article = next.popLast() {
            let topics = try Articles.text(article).components(separatedBy: "\n## Topics\n").dropFirst().joined()
            for match in topics.matches(of: /(?m)^- <doc:([\w-]+)>$/) where reached.insert(String(match.1)).inserted {
                next.append(String(match.1))
            }
        }
        #expect(Set(try Articles.names()).subtracting(reached) == [])
    }

    @Test("The links of the documentation lead to the articles for maintainers from one page")
    func maintainers() throws {
        let folder = "\(Articles.catalog)/Maintainers/"
        let names = try Articles.files().filter { $0.hasPrefix(folder) }.map(Articles.name(ofFile:))
        #expect(names.count > 10)
        for file in try Articles.files() where !file.hasPrefix(folder) {
            let topics = try Self.text(file).components(separatedBy: "\n## Topics\n").dropFirst().joined()
            for name in names where name != "Maintaining" { #expect(!topics.contains("<doc:\(name)>"), "\(file)") }
        }
    }

    @Test("The links of the documentation to files name files, in the package or beside the article")
    func relative() throws {
        let links = try Self.links().filter { !$0.target.contains("://") && !$0.target.hasPrefix("#") }
        #expect(links.count > 10)
        for link in links {
            let folder = Self.root.appendingPathComponent(link.file).deletingLastPathComponent()
            let target = String(link.target.prefix { $0 != "#" })
            let places = [folder, Self.root.appendingPathComponent("\(Articles.catalog)/Resources")]
                .map { $0.appendingPathComponent(target).path }
            #expect(places.contains { FileManager.default.fileExists(atPath: $0) }, "\(link)")
        }
    }

    @Test("The links of the documentation by reference have a definition, and each definition is used")
    func references() throws {
        let text = try Self.text("README.md").replacing("\n", with: " ")
        let used = Set(text.matches(of: /\[[^\[\]]+\]\[(\w+)\]/).map { String($0.1) })
        let defined = Set(try Self.text("README.md").matches(of: #/(?m)^\[(\w+)\]: /#).map { String($0.1) })
        #expect(!used.isEmpty)
        #expect(used == defined)
    }

    @Test("The links of the documentation to other sites are secure, and have a host")
    func web() throws {
        let inline = try Self.links().filter { $0.target.contains("://") }
        let plain = try Self.files().flatMap { file in
            try Self.text(file).matches(of: /<(https?:[^>\s]+)>/).map { Link(file: file, target: String($0.1)) }
        }
        let sources = try SourceDocumentation(Self.root.appendingPathComponent("Sources")).webLinks
            .map { Link(file: $0.file, target: $0.target) }
        #expect(sources.count > 50)
        for link in inline + plain + sources {
            let address = URLComponents(string: link.target)
            #expect(address?.scheme == "https", "\(link)")
            #expect(address?.host?.contains(".") == true, "\(link)")
            #expect(!".,;:".contains(link.target.last!), "\(link)")
        }
    }

    @Test("The links of the documentation in the comments of the sources name parts of this package")
    func symbols() throws {
        let documentation = try SourceDocumentation(Self.root.appendingPathComponent("Sources"))
        let names = documentation.names
        let links =
            documentation.symbolLinks
            + (try Self.files().flatMap { file in
                try Self.text(file).matches(of: SourceDocumentation.symbolLink).map {
                    (file: file, target: String($0.1))
                }
            })
        #expect(links.count > 300)
        for link in links {
            for part in link.target.split(separator: "/") {
                let name = String(part.prefix { $0 != "(" && $0 != "-" })
                #expect(names.contains(name), "\(link.file): \(link.target)")
            }
        }
    }
}
