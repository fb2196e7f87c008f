import Foundation

/// The articles of the documentation, in whichever folder of the catalog they are.
enum Articles {
    static let catalog = "Sources/Strongroom/Strongroom.docc"

    /// The Markdown files of the catalog, by their paths in the package: articles and the topics of types.
    static func files() throws -> [String] {
        let folder = SourceDocumentation.packageFolder.appendingPathComponent(catalog)
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }.sorted()
            .map { "\(catalog)/\($0)" }
    }

    /// The names of the articles.
    static func names() throws -> [String] {
        try files().filter { !$0.hasPrefix("\(catalog)/Types/") }.map(name(ofFile:))
    }

    static func text(_ name: String) throws -> String {
        guard let file = try files().first(where: { self.name(ofFile: $0) == name }) else {
            throw CocoaError(.fileNoSuchFile, userInfo: [NSFilePathErrorKey: name])
        }
        return try text(ofFile: file)
    }

    static func text(ofFile file: String) throws -> String {
        try String(contentsOf: SourceDocumentation.packageFolder.appendingPathComponent(file), encoding: .utf8)
    }

    static func name(ofFile file: String) -> String {
        String(file.split(separator: "/").last!.dropLast(".md".count))
    }
}
