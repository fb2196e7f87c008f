import Foundation
import Testing

/// The form of lines that the article "Style and glossary" describes.
@Suite("The lines of the package")
struct LineTests {
    private static let limit = 120

    private static let folders = ["Sources", "Shim", "Tests", "scripts"]

    private static let extensions = [".swift", ".c", ".h"]

    @Test("The lines of the package have at most 120 columns", arguments: folders)
    func columns(folder: String) throws {
        let package = SourceDocumentation.packageFolder
        let paths = try Self.paths(in: package.appendingPathComponent(folder))
        #expect(paths.count > 10)
        let long = try paths.flatMap { path in
            let text = try String(contentsOf: package.appendingPathComponent(folder + "/" + path), encoding: .utf8)
            return Self.longLines(of: text).map { "\(folder)/\(path):\($0)" }
        }
        #expect(long.isEmpty, "\(long.joined(separator: "\n"))")
    }

    @Test("The lines of the package are counted in characters, and a long one is found")
    func control() {
        let (fitting, long) = (String(repeating: "é", count: 120), String(repeating: "a", count: 121))
        #expect(Self.longLines(of: "\(fitting)\n\(long)\n\(fitting)") == [2])
    }

    /// Returns the numbers of the lines with more than 120 characters.
    private static func longLines(of text: String) -> [Int] {
        text.components(separatedBy: "\n").enumerated().filter { $0.element.count > limit }.map { $0.offset + 1 }
    }

    /// Returns the programs and scripts in a folder, without builds and lists of names.
    private static func paths(in folder: URL) throws -> [String] {
        let files = FileManager.default
        return try files.subpathsOfDirectory(atPath: folder.path).filter { path in
            let name = path.split(separator: "/").last ?? ""
            guard !path.contains(".build/"), !name.hasPrefix(".") else { return false }
            guard name.contains(".") else { return files.contents(atPath: folder.path + "/" + path) != nil }
            return extensions.contains { name.hasSuffix($0) }
        }.sorted()
    }
}
