import Foundation

/// The sources of the library, by layer: what each folder declares, and what it refers to.
///
/// It reads names, and knows no types. A reference to a member is one to all declarations with its name, its argument
/// labels and, if the type stands before it, its type. Subscripts, operators and `.init` are not followed.
struct SourceLayers {
    /// From the bottom: a layer refers to itself, and to those before it.
    static let order = [
        "Synchronization", "Shim", "Errors", "Keys", "KeySlots", "Core", "Cipher", "Schema", "Records", "Query",
        "FullText", "Restrictions", "Access", "Observation", "Migrations", "Dump", "Salvage", "Backups", "Platform",
        "Sharing",
    ]

    /// The folders of layers with an order of their own, from the bottom. Folders of one set may refer to each other.
    static let inner: [String: [Set<String>]] = [
        "Core": [
            ["Cursors"], ["Files"], ["Text"], ["Regions"], ["Values", "SQL"], ["Functions"],
            ["Connection", "Statements", "Runs", "Transactions", "Stops", "Tracing"], ["Building"], ["Rows"],
            ["Fetching"],
        ],
        "Cipher": [
            ["State"], ["Format"], ["Pages"], ["Recovery"], ["Opening"], ["Rotation"], ["Inspection"], ["Copies"],
        ],
    ]

    /// The layers whose folders also refer to members of lower folders only.
    static let closed: Set = ["Cipher"]

    /// Members whose names Swift, Foundation or Dispatch have too, which layers below them use.
    static let common: Set = [
        "append", "compactMap", "contains", "count", "decode", "dropFirst", "dropLast", "endIndex", "filter",
        "first",
        "flatMap", "forEach", "format", "formatted", "index", "inserted", "iso8601", "joined", "map", "max",
        "millisecondsSince1970", "min", "none", "prefix", "reduce", "remove", "removeAll", "reversed",
        "singleValueContainer", "startIndex", "stringValue", "suffix", "timeIntervalSince1970",
        "timeIntervalSinceReferenceDate", "wait", "withUnsafeBytes", "Array", "Set",
    ]

    struct File {
        let path: String
        let layer: String
        /// The folder inside of the layer. Empty for a file beside the folders.
        let folder: String
        let source: SourceMembers

        init(path: String, source: SourceMembers) {
            let folders = path.split(separator: "/").dropLast()
            (self.path, self.source) = (path, source)
            layer = String(folders.first ?? "")
            folder = String(folders.dropFirst().first ?? "")
        }

        /// True if a reference from this file to `other` points up, to a type or to a member of one.
        func isBelow(_ other: File, isMember: Bool = false) -> Bool {
            if layer != other.layer { return SourceLayers.rank(layer) < SourceLayers.rank(other.layer) }
            guard !isMember || SourceLayers.closed.contains(layer),
                let own = innerRank, let others = other.innerRank
            else { return false }
            return own < others
        }

        private var innerRank: Int? { SourceLayers.inner[layer]?.firstIndex { $0.contains(folder) } }
    }

    struct Reference: CustomStringConvertible {
        let from: File
        let name: String
        let to: File
        var isMember = false

        var pointsUp: Bool { from.isBelow(to, isMember: isMember) }

        var description: String { "\(from.path) refers to \(name), which belongs to \(to.path)" }
    }

    let files: [File]
    private let words = SourceWords()
    private let keywords: SourceKeywords

    init(_ folder: URL) throws {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let keywords = SourceKeywords(words), words = words
        self.keywords = keywords
        files = try paths.sorted().map {
            let code = SourceCode(try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8))
            return File(path: $0, source: SourceMembers(code, words, keywords))
        }
    }

    static func rank(_ layer: String) -> Int { order.firstIndex(of: layer) ?? -1 }

    // MARK: - Types

    /// Each mention of a type that stands at the top level of another file.
    func typeReferences() -> [Reference] {
        var types: [Int: Int] = [:]
        for (index, file) in files.enumerated() {
            for type in file.source.types where types[type] == nil { types[type] = index }
        }
        var references: [Reference] = []
        for (index, file) in files.enumerated() {
            for token in file.source.tokens where token.name >= 0 {
                guard let target = types[token.name], target != index else { continue }
                references.append(Reference(from: file, name: words.all[token.name], to: files[target]))
            }
        }
        return references
    }

    // MARK: - Members

    private typealias Candidate = (file: Int, member: SourceMembers.Member)

    /// Each mention of a member, with the lowest file that declares one with its name and its labels.
    func memberReferences() -> [Reference] {
        var candidates = [[Candidate]](repeating: [], count: words.all.count)
        var isOwner = [Bool](repeating: false, count: words.all.count)
        for (index, file) in files.enumerated() {
            for member in file.source.members {
                candidates[member.name].append((index, member))
                if let owner = member.owner { isOwner[owner] = true }
            }
        }
        let constructors = words.find("init").map { candidates[$0] } ?? []
        for keyword in keywords.kinds.keys { (candidates[keyword], isOwner[keyword]) = ([], false) }
        // Modules, and what a pointer leads to: a structure of C.
        let foreign = Set(["Foundation", "Swift", "pointee"].compactMap(words.find))
        var references: [Reference] = []
        for (index, file) in files.enumerated() {
            for (place, token) in file.source.tokens.enumerated() where token.name >= 0 {
                let name = token.name, isType = isOwner[name]
                guard isType || !candidates[name].isEmpty, !file.source.isDeclaration[place] else { continue }
                let mention = Mention(file.source, place)
                guard !mention.isLabel else { continue }
                var known: [Candidate]
                if isType, mention.isCalled {
                    known = constructors.filter { $0.member.owner == name }
                } else {
                    if let owner = mention.owner, foreign.contains(owner) { continue }
                    // A bare name may be that of a local variable, or of a generic parameter.
                    let isBare = !mention.isMember
                    if isBare, words.isCapitalized(name) || file.source.locals.contains(name) { continue }
                    known = candidates[name]
                    if let owner = mention.owner, isOwner[owner] {
                        let own = known.filter { $0.member.owner == owner }
                        if !own.isEmpty { known = own }
                    }
                }
                known = known.filter { !$0.member.isPrivate || $0.file == index }
                guard let lowest = fitting(known, mention).min(by: { isLower($0.file, $1.file, than: file) }),
                    lowest.file != index
                else { continue }
                references.append(Reference(from: file, name: words.all[name], to: files[lowest.file], isMember: true))
            }
        }
        return references
    }

    /// Returns the mentions of members that are certain inside of a layer: all of them in a closed layer, and otherwise
    /// those of names that one folder alone declares.
    func certainMembers(in layer: String) -> [Reference] {
        let references = memberReferences().filter { !Self.common.contains($0.name) }
        if Self.closed.contains(layer) { return references }
        var folders: [String: Set<String>] = [:]
        for file in files {
            for member in file.source.members {
                folders[words.all[member.name], default: []].insert("\(file.layer)/\(file.folder)")
            }
        }
        return references.filter { folders[$0.name]?.count == 1 }
    }

    /// The order in which declarations are preferred: those to which a reference doesn't point up come first.
    private func isLower(_ left: Int, _ right: Int, than file: File) -> Bool {
        let (left, right) = (files[left], files[right])
        let (isUp, isOtherUp) = (file.isBelow(left, isMember: true), file.isBelow(right, isMember: true))
        return isUp != isOtherUp ? !isUp : left.isBelow(right)
    }

    /// Returns the members that a mention can mean by its form: a call, a value, or a function without its arguments.
    private func fitting(_ candidates: [Candidate], _ mention: Mention) -> [Candidate] {
        if mention.isCalled {
            return candidates.filter { $0.member.accepts(mention.labels, hasClosure: mention.hasClosure) }
        }
        let values = candidates.filter { $0.member.kind != .function }
        return values.isEmpty ? candidates : values
    }

    /// A place where a member may be mentioned.
    private struct Mention {
        /// True after a dot.
        let isMember: Bool
        /// The word before the dot.
        let owner: Int?
        /// True for a label of an argument.
        let isLabel: Bool
        var isCalled = false
        var labels: [Int?] = []
        var hasClosure = false

        init(_ source: SourceMembers, _ place: Int) {
            let tokens = source.tokens
            func kind(_ place: Int) -> UInt8? { tokens.indices.contains(place) ? tokens[place].kind : nil }
            isMember = kind(place - 1) == Ascii.dot && kind(place - 2) != Ascii.dot
            owner = isMember && place > 1 && tokens[place - 2].name >= 0 ? tokens[place - 2].name : nil
            isLabel =
                kind(place + 1) == Ascii.colon && [Ascii.open, Ascii.comma].contains(kind(place - 1))
            let next = place + 1
            if kind(next) == Ascii.open, !tokens[next].startsLine {
                isCalled = true
                let end = source.end(of: next)
                labels = source.items(from: next).map { item in
                    let isLabeled = tokens[item.lowerBound].name >= 0 && kind(item.lowerBound + 1) == Ascii.colon
                    return isLabeled ? tokens[item.lowerBound].name : nil
                }
                hasClosure = kind(end + 1) == Ascii.brace && !source.isCondition(end + 1)
            } else if kind(next) == Ascii.brace, !source.isCondition(next) {
                (isCalled, hasClosure) = (true, true)
            }
        }
    }
}
