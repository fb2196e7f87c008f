import Foundation

/// The members of the types that stand at the top level of files, and the lines of files.
struct SourceSizes {
    struct Members: CustomStringConvertible {
        let type: String

        /// The folder of the file that declares the type.
        let folder: String
        var inOwnFolder = 0
        var inAllFolders = 0

        var description: String { "\(type): \(inOwnFolder) members in \(folder), \(inAllFolders) in all folders" }
    }

    /// The text of each file, by its path.
    private let files: [(path: String, text: String)]

    init(files: [(path: String, text: String)]) {
        self.files = files
    }

    init(_ folder: URL) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        self.init(
            files: try paths.sorted().map {
                ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            })
    }

    // MARK: - Members

    /// The members of each type: what stands in its braces, or in those of an extension, at the first level.
    func members() -> [Members] {
        var counts: [String: [String: Int]] = [:]
        var folders: [String: String] = [:]
        let (typePattern, memberPattern) = (Self.type, Self.member)
        for file in files {
            let folder = String(file.path[..<(file.path.lastIndex(of: "/") ?? file.path.startIndex)])
            var type: String?
            for line in SourceCode(file.text).text.split(separator: "\n") {
                // A line that is indented further stands inside of a member.
                if line.hasPrefix("     ") || line.hasPrefix("    }") || line.hasPrefix("}") { continue }
                if line.hasPrefix(" ") {
                    guard let type, line.prefixMatch(of: memberPattern) != nil else { continue }
                    counts[type, default: [:]][folder, default: 0] += 1
                } else if let match = line.prefixMatch(of: typePattern) {
                    type = String(match.2)
                    if match.1 != "extension" { folders[String(match.2)] = folders[String(match.2)] ?? folder }
                }
            }
        }
        return folders.map { type, folder in
            let counts = counts[type] ?? [:]
            return Members(
                type: type, folder: folder, inOwnFolder: counts[folder] ?? 0,
                inAllFolders: counts.values.reduce(0, +))
        }
    }

    private static var type: Regex<(Substring, Substring, Substring)> {
        #/
        (?:@\w+(?:\([^)]*\))?\x20+)*(?:(?:public|package|open|private|fileprivate|final|indirect)\x20+)*
        (class|struct|enum|protocol|actor|extension)\x20+([\w.]+)
        /#
    }

    private static var member: Regex<Substring> {
        #/
        \x20{4}(?:@\w+(?:\([^)]*\))?\x20+)*(?:[a-z]+(?:\([a-z]+\))?\x20+)*?
        (?:func|var|let|init|subscript|case|typealias|associatedtype|deinit|class|struct|enum)\b
        /#
    }

    // MARK: - Lines

    /// The number of lines of each file of Swift and C, by its path.
    static func lineCounts(in folder: URL) throws -> [String: Int] {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
            [".swift", ".c", ".h"].contains { path.hasSuffix($0) } && !path.contains(".build/")
        }
        return Dictionary(
            uniqueKeysWithValues: try paths.map { path in
                let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
                return (path, text.utf8.count { $0 == UInt8(ascii: "\n") })
            })
    }
}
