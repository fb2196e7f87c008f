import Foundation

/// A page of the documentation that a reader follows block by block.
struct Page {
    struct Block {
        let language: String
        let text: String
        /// True if the block is the manifest of a package.
        var isManifest: Bool { text.hasPrefix("// swift-tools-version:") }
    }

    let text: String

    /// The page at a path in the package.
    init(_ path: String) throws {
        text = try String(contentsOf: Program.packageFolder.appendingPathComponent(path), encoding: .utf8)
    }

    init(article: String) throws {
        try self.init("Sources/Strongroom/Strongroom.docc/\(article).md")
    }

    /// The blocks, in the order of the page.
    var blocks: [Block] {
        text.components(separatedBy: "```").enumerated().filter { $0.offset % 2 == 1 }.map { _, block in
            let newline = block.firstIndex(of: "\n") ?? block.endIndex
            return Block(language: String(block[..<newline]), text: String(block[newline...].dropFirst()))
        }
    }

    func blocks(_ language: String) -> [String] {
        blocks.filter { $0.language == language }.map(\.text)
    }

    /// The parts of the program, joined.
    var program: String {
        blocks.filter { $0.language == "swift" && !$0.isManifest }.map(\.text).joined(separator: "\n")
    }

    /// The manifest, with the line for a clone in a folder that the page gives.
    func manifest(clone: String) throws -> String {
        guard let manifest = blocks.first(where: \.isManifest)?.text,
            let line = text.firstMatch(of: #/`(\.package\(name: "strongroom", path: ")\.\./FOLDER("\))`/#),
            let address = manifest.firstMatch(of: #/\.package\(url: "[^"]+", from: "[^"]+"\)/#)
        else { throw Unavailable("the page has no manifest, or no line for a clone") }
        return manifest.replacingCharacters(in: address.range, with: "\(line.1)\(clone)\(line.2)")
    }
}
