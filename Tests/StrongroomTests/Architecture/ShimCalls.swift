/// The calls between the files of C. A header's functions are those that are inline.
struct ShimCalls: CustomStringConvertible {
    /// The files whose functions each file calls.
    private(set) var uses: [String: Set<String>] = [:]

    init(_ texts: [String: String]) {
        let sources = texts.mapValues(Self.code)
        var definers: [String: String] = [:]
        for (file, text) in sources {
            for match in text.matches(of: Self.definition) where match.1.contains("static") == file.hasSuffix(".h") {
                definers[String(match.2)] = file
            }
        }
        for (file, text) in sources {
            let bodies = file.hasSuffix(".h") ? Self.inlineBodies(in: text) : [text]
            for word in bodies.flatMap({ $0.matches(of: /\b\w+\b/) }) {
                guard let definer = definers[String(word.0)], definer != file else { continue }
                uses[file, default: []].insert(definer)
            }
        }
    }

    /// A function at the beginning of a line: what stands before its name, and the name.
    private static var definition: Regex<(Substring, Substring, Substring)> {
        /(?m)^([a-z][\w *]*?)\b(\w+)\([^;{}]*\)\s*\{/
    }

    /// The bodies of the inline functions of a header.
    static func inlineBodies(in header: String) -> [String] {
        code(in: header).matches(of: /(?m)^static inline [^;{}]*\{((?:[^\n]*\}$|(?:.|\n)*?\n(?=\})))/).map {
            String($0.1)
        }
    }

    /// The text without comments, and without that of literals.
    private static func code(in text: String) -> String {
        text.replacing(/"(?:\\.|[^"\\\n])*"/, with: "").replacing(/\/\/[^\n]*/, with: "")
    }

    var description: String {
        uses.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.sorted().joined(separator: ", "))" }
            .joined(separator: "\n")
    }
}
