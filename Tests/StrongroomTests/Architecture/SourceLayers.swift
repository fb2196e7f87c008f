import Foundation

/// The sources of the library, by layer: what each folder declares, and what it refers to.
struct SourceLayers {
    /// From the bottom: a layer refers to itself, and to those before it.
    static let order = [
        "Synchronization", "Errors", "Keys", "KeySlots", "Core", "Cipher", "Schema", "Records", "Query", "FullText",
        "Access", "Observation", "Migrations", "Dump", "Platform", "Sharing",
    ]

    /// From the bottom: the folders of the core whose order is clear. Values are not among them: statements bind them,
    /// and rows and expressions are made of them.
    static let coreOrder: [Set] = [
        ["Cursors"],
        ["Connection", "Files", "Functions", "Regions", "Runs", "Statements", "Stops", "Tracing", "Transactions"],
        ["Rows", "SQL"],
    ]

    struct File {
        let path: String
        let layer: String

        /// The folder of the core that the file belongs to.
        var coreFolder: String? {
            let folders = path.split(separator: "/")
            return folders[0] == "Core" ? String(folders[1]) : nil
        }

        /// Without comments, and without the text of literals.
        let code: String
    }

    struct Reference: CustomStringConvertible {
        let file: String
        let name: String
        let from: String
        let to: String

        var description: String { "\(file) refers to \(name), which belongs to \(to)" }
    }

    let files: [File]

    init(_ folder: URL) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        files = try paths.sorted().map {
            let text = try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)
            return File(path: $0, layer: String($0.prefix { $0 != "/" }), code: Self.code(in: text))
        }
    }

    static func rank(_ layer: String) -> Int { order.firstIndex(of: layer) ?? -1 }

    /// A word of code: Unicode would join what a dot separates.
    private static var word: Regex<Substring> { /\b[A-Za-z]\w+\b/.wordBoundaryKind(.simple) }

    // MARK: - Types

    /// The layer of each type that stands at the top level of a file.
    func types() -> [String: String] { types(\.layer) }

    private func types(_ place: (File) -> String?) -> [String: String] {
        let declaration = #/
            (?m)^(?:@\w+(?:\([^)\n]*\))?\s+)*(?:(?:public|package|open|final|indirect)\x20+)*
            (?:class|struct|enum|protocol|actor|typealias)\x20+(\w+)
            /#
        var types: [String: String] = [:]
        for file in files {
            for match in file.code.matches(of: declaration) {
                types[String(match.1)] = types[String(match.1)] ?? place(file)
            }
        }
        return types
    }

    /// Each mention of a type of another layer.
    func typeReferences() -> [Reference] {
        let types = types()
        return files.flatMap { file in
            file.code.matches(of: Self.word).compactMap { match in
                guard let layer = types[String(match.0)], layer != file.layer else { return nil }
                return Reference(file: file.path, name: String(match.0), from: file.layer, to: layer)
            }
        }
    }

    /// Each mention, in a folder of the core, of a type of a higher one.
    func coreReferencesUpwards() -> [Reference] {
        let types = types(\.coreFolder)
        func rank(_ folder: String?) -> Int? { Self.coreOrder.firstIndex { $0.contains(folder ?? "") } }
        return files.filter { rank($0.coreFolder) != nil }.flatMap { file in
            file.code.matches(of: Self.word).compactMap { match in
                guard let from = file.coreFolder, let to = types[String(match.0)], let rank = rank(to)
                else { return nil }
                guard rank > Self.coreOrder.firstIndex(where: { $0.contains(from) })! else { return nil }
                return Reference(file: file.path, name: String(match.0), from: from, to: to)
            }
        }
    }

    // MARK: - Members

    /// What layers add to the connection in extensions, by name, with the lowest layer where anything has that name.
    private func connectionMembers() -> [String: String] {
        let `extension` = /(?ms)^(?:public |package )?extension Database(?:: [^{]*)? \{\n(.*?)^\}/
        let member = #/
            (?m)^\x20{4}(?:@\w+(?:\([^)\n]*\))?\s+)*(?:(?:public|package|static|fileprivate|private)\x20+)*
            (?:func|var|let)\x20+(\w+)
            /#
        var members: Set<String> = []
        for file in files {
            for block in file.code.matches(of: `extension`) {
                for match in block.1.matches(of: member) { members.insert(String(match.1)) }
            }
        }
        // Declarations, labels and parameters, further cases, and the parameters of closures.
        let name = #/(?m)(?:func|var|let|case) +(\w+)|(\w+) *:|, (\w+)(?=,|$)|[{(,] *(\w+)(?=,| in )/#
        var lowest: [String: String] = [:]
        for file in files {
            for match in file.code.matches(of: name) {
                let names = [match.1, match.2, match.3, match.4].compactMap { $0.map(String.init) }
                for found in names where members.contains(found) {
                    let isLower = lowest[found].map { Self.rank(file.layer) < Self.rank($0) } ?? true
                    if isLower { lowest[found] = file.layer }
                }
            }
        }
        return lowest
    }

    /// Each mention of a member of `Database` that only higher layers declare. The layers below the core have no
    /// connection, and declare none of its members.
    func memberReferencesUpwards() -> [Reference] {
        let members = connectionMembers()
        return files.filter { Self.rank($0.layer) >= Self.rank("Core") }.flatMap { file in
            file.code.matches(of: Self.word).compactMap { match in
                guard let layer = members[String(match.0)], Self.rank(layer) > Self.rank(file.layer) else { return nil }
                return Reference(file: file.path, name: String(match.0), from: file.layer, to: layer)
            }
        }
    }

    // MARK: - Text

    /// The source without comments, and with nothing of string literals but their interpolations.
    static func code(in source: String) -> String {
        var isBlock = false
        return source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let marks = line.ranges(of: "\"\"\"").count
            defer { if marks == 1 { isBlock.toggle() } }
            if isBlock { return marks == 1 ? "" : interpolations(in: line) }
            return withoutLiterals(line)
        }.joined(separator: "\n")
    }

    private static func withoutLiterals(_ line: Substring) -> String {
        var code = "", rest = line
        while let character = rest.first {
            if rest.hasPrefix("//") { break }
            guard character == "\"" else {
                code.append(character)
                rest.removeFirst()
                continue
            }
            let literal = rest.prefixMatch(of: /"(?:\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|\\.|[^"\\])*"/)
            guard let literal else { return code }
            code += " " + interpolations(in: literal.0) + " "
            rest = rest[literal.range.upperBound...]
        }
        return code
    }

    private static func interpolations(in text: Substring) -> String {
        text.matches(of: /\\\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/).map { String($0.1) }.joined(separator: " ")
    }
}
