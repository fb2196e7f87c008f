/// The declarations of a source, and the places where it may refer to others.
struct SourceMembers {
    /// A parameter of a function, as far as a call shows it.
    struct Parameter: Equatable {
        /// Nil for `_`.
        var label: Int?
        var isOptional = false
        var isVariadic = false
        var isClosure = false
    }

    /// Something that a type, an extension or a file declares.
    struct Member {
        enum Kind { case value, function, enumerationCase, type }

        let name: Int
        let kind: Kind
        /// The type. Nil at the top level of a file.
        let owner: Int?
        let isPrivate: Bool
        /// Functions and cases have parameters. Values can be called if their type may be that of a function.
        var parameters: [Parameter] = []
        var isCallable = true

        /// Returns true if a call with these labels can be one of this member.
        func accepts(_ labels: [Int?], hasClosure: Bool) -> Bool {
            guard kind == .function else { return kind == .enumerationCase || isCallable }
            var next = 0, closure = hasClosure, isTaken = !hasClosure
            for parameter in parameters {
                if next < labels.count, labels[next] == parameter.label {
                    next += 1
                    while parameter.isVariadic, next < labels.count, labels[next] == nil { next += 1 }
                } else if parameter.isClosure, closure, !parameter.isOptional {
                    (closure, isTaken) = (false, true)
                } else if parameter.isOptional {
                    if parameter.isClosure { isTaken = true }
                } else {
                    return false
                }
            }
            return next == labels.count && isTaken
        }
    }

    private enum Scope {
        case type(Int)
        case body
    }

    let tokens: [SourceCode.Token]
    private let words: SourceWords
    private let keywords: SourceKeywords

    private(set) var members: [Member] = []
    /// The names of variables and parameters of functions and closures.
    private(set) var locals: Set<Int>
    /// The types at the top level, without extensions.
    private(set) var types: [Int] = []
    /// True for tokens that declare a name, or are labels.
    private(set) var isDeclaration: [Bool]
    /// The braces that do not begin a closure, although a name or a call stands before them.
    private var plainBraces: Set<Int> = []

    /// True for a brace after a condition, a result type or a keyword.
    func isCondition(_ brace: Int) -> Bool { plainBraces.contains(brace) }

    private var scopes: [Scope] = []
    private var pendingType: Int?
    private var isPrivate = false
    private var privateScopes: [Int] = []

    init(_ code: SourceCode, _ words: SourceWords, _ keywords: SourceKeywords) {
        tokens = code.tokens(words)
        (self.words, self.keywords) = (words, keywords)
        locals = keywords.implicit
        isDeclaration = [Bool](repeating: false, count: tokens.count)
        for place in tokens.indices { visit(place) }
    }

    private func kind(_ place: Int) -> UInt8? { tokens.indices.contains(place) ? tokens[place].kind : nil }

    private func isWord(_ place: Int) -> Bool { kind(place) == SourceCode.word }

    private var isInBody: Bool {
        if case .body? = scopes.last { return true }
        return false
    }

    private var owner: Int? {
        if case .type(let name)? = scopes.last { return name }
        return nil
    }

    // MARK: - Declarations

    private mutating func visit(_ place: Int) {
        switch tokens[place].kind {
        case Ascii.brace:
            scopes.append(pendingType.map { .type($0) } ?? .body)
            if pendingType == nil {
                addClosureParameters(place)
            } else if isPrivate {
                privateScopes.append(scopes.count)
            }
            (pendingType, isPrivate) = (nil, false)
        case Ascii.endBrace:
            if privateScopes.last == scopes.count { privateScopes.removeLast() }
            _ = scopes.popLast()
        case SourceCode.word where place == 0 || tokens[place - 1].kind != Ascii.dot: visitWord(place)
        default: break
        }
    }

    private mutating func visitWord(_ place: Int) {
        let name = tokens[place].name
        guard let keyword = keywords.kinds[name] else { return }
        switch keyword {
        case .access: isPrivate = kind(place + 1) != Ascii.open
        case .type where isWord(place + 1) && keywords.kinds[tokens[place + 1].name] == nil:
            let isExtension = name == keywords.extensionWord
            var last = place + 1
            isDeclaration[last] = !isExtension
            while isExtension, kind(last + 1) == Ascii.dot, isWord(last + 2) { last += 2 }
            pendingType = tokens[last].name
            if scopes.isEmpty, !isExtension { types.append(tokens[last].name) }
            if !scopes.isEmpty, !isExtension { add(place + 1, .type) }
        case .type where name == keywords.extensionWord && kind(place + 1) == Ascii.bracket:
            // Of an array: the word stands for its name.
            pendingType = name
        case .alias where isWord(place + 1):
            if scopes.isEmpty { types.append(tokens[place + 1].name) } else { add(place + 1, .type) }
            isPrivate = false
        case .function: addFunction(place, nameAt: place + 1)
        case .initializer where !isInBody && [Ascii.open, Ascii.less, Ascii.question].contains(kind(place + 1)):
            addFunction(place, nameAt: place)
        case .indexing where !isInBody && kind(place + 1) == Ascii.open: _ = parameters(from: place + 1)
        case .value: addValues(place)
        case .enumerationCase: addCases(place)
        case .loop:
            addWords(from: place + 1, until: keywords.inWord)
            markCondition(place)
        case .condition: markCondition(place)
        default: break
        }
    }

    private mutating func add(
        _ place: Int, _ kind: Member.Kind, _ parameters: [Parameter] = [], isCallable: Bool = true
    ) {
        isDeclaration[place] = true
        let member = Member(
            name: tokens[place].name, kind: kind, owner: owner,
            isPrivate: isPrivate || !privateScopes.isEmpty || isInBody,
            parameters: parameters, isCallable: isCallable)
        if kind != .type { isPrivate = false }
        members.append(member)
    }

    private mutating func addFunction(_ place: Int, nameAt name: Int) {
        // Operators have no name that is followed, but parameters.
        var open = isWord(name) ? name + 1 : name
        while let kind = kind(open), kind != Ascii.open, kind != Ascii.brace { open += 1 }
        guard kind(open) == Ascii.open else { return }
        let parameters = parameters(from: open)
        guard isWord(name) else { return isPrivate = false }
        add(name, .function, parameters)
        if isInBody { locals.insert(tokens[name].name) }
    }

    /// Reads the parameters between parentheses, and marks their labels.
    private mutating func parameters(from open: Int) -> [Parameter] {
        var parameters: [Parameter] = []
        forEachItem(from: open) { members, first, end in
            guard members.isWord(first) else { return }
            // Attributes and modifiers come after the colon.
            let colon = members.isWord(first + 1) ? first + 2 : first + 1
            guard members.kind(colon) == Ascii.colon else { return }
            for place in first..<colon { members.isDeclaration[place] = true }
            members.locals.insert(members.tokens[colon - 1].name)
            var parameter = Parameter()
            let label = members.tokens[first].name
            parameter.label = label == members.keywords.underscore ? nil : label
            var depth = 0
            for place in colon..<end {
                switch members.tokens[place].kind {
                case Ascii.open, Ascii.bracket: depth += 1
                case Ascii.close, Ascii.endBracket: depth -= 1
                case Ascii.equals where depth == 0: parameter.isOptional = true
                case Ascii.more where members.kind(place - 1) == Ascii.minus: parameter.isClosure = true
                case Ascii.dot where members.kind(place + 1) == Ascii.dot && members.kind(place + 2) == Ascii.dot:
                    (parameter.isVariadic, parameter.isOptional) = (true, true)
                default: break
                }
            }
            parameters.append(parameter)
        }
        return parameters
    }

    private mutating func addValues(_ place: Int) {
        let next = place + 1
        if kind(next) == Ascii.open { return addWordsInParentheses(next) }
        if kind(next) == Ascii.dot { return addWordsInParentheses(next + 2) }
        guard isWord(next) else { return }
        // A pattern, as in `case let error as DatabaseError`, or one or several values.
        var name = next
        while true {
            if isInBody { locals.insert(tokens[name].name) }
            let annotation = kind(name + 1) == Ascii.colon
            var end = name + 1, depth = 0, isFunction = false, isLast = true
            while let kind = kind(end) {
                if depth == 0, tokens[end].startsLine, end > name + 1 { break }
                if kind == Ascii.open || kind == Ascii.bracket { depth += 1 }
                if kind == Ascii.close || kind == Ascii.endBracket { depth -= 1 }
                if depth < 0 || depth == 0 && (kind == Ascii.brace || kind == Ascii.endBrace) { break }
                if kind == Ascii.more, self.kind(end - 1) == Ascii.minus { isFunction = true }
                if depth == 0, kind == Ascii.comma, isWord(end + 1),
                    [Ascii.equals, Ascii.colon].contains(self.kind(end + 2))
                {
                    isLast = false
                    break
                }
                end += 1
            }
            if !isInBody {
                add(name, .value, isCallable: !annotation || isFunction)
            } else {
                isDeclaration[name] = true
            }
            if isLast { return }
            name = end + 1
        }
    }

    private mutating func addCases(_ place: Int) {
        guard owner != nil else { return }
        var name = place + 1
        while isWord(name) {
            add(name, .enumerationCase)
            var next = name + 1
            if kind(next) == Ascii.open { next = end(of: next) + 1 }
            while kind(next) == Ascii.equals || kind(next) == Ascii.quote || isWord(next) && !tokens[next].startsLine {
                next += 1
            }
            guard kind(next) == Ascii.comma else { return }
            name = next + 1
        }
    }

    // MARK: - Locals

    private mutating func addClosureParameters(_ brace: Int) {
        var place = brace + 1, names: [Int] = []
        let allowed = [
            SourceCode.word, Ascii.comma, Ascii.open, Ascii.close, Ascii.colon, Ascii.bracket, Ascii.endBracket,
            Ascii.at,
        ]
        while let kind = kind(place), place < brace + 40, allowed.contains(kind) {
            if tokens[place].startsLine, place > brace + 1 { return }
            if tokens[place].name == keywords.inWord { return locals.formUnion(names) }
            if kind == SourceCode.word { names.append(tokens[place].name) }
            place += 1
        }
    }

    private mutating func addWords(from first: Int, until last: Int) {
        var place = first
        while place < tokens.count, place < first + 20, tokens[place].name != last {
            if isWord(place) { locals.insert(tokens[place].name) }
            place += 1
        }
    }

    private mutating func addWordsInParentheses(_ open: Int) {
        guard kind(open) == Ascii.open else { return }
        for place in open..<end(of: open) where isWord(place) { locals.insert(tokens[place].name) }
    }

    /// Marks the brace that ends a condition: the first one at its level.
    private mutating func markCondition(_ keyword: Int) {
        var depth = 0, place = keyword + 1
        while let kind = kind(place) {
            switch kind {
            case Ascii.open, Ascii.bracket: depth += 1
            case Ascii.close, Ascii.endBracket: depth -= 1
            case Ascii.brace where depth == 0:
                plainBraces.insert(place)
                return
            case Ascii.endBrace where depth == 0: return
            default: break
            }
            if depth < 0 { return }
            place += 1
        }
    }

    // MARK: - Parentheses

    /// Returns the place of the closing parenthesis.
    func end(of open: Int) -> Int {
        var depth = 0
        for place in open..<tokens.count {
            switch tokens[place].kind {
            case Ascii.open, Ascii.bracket, Ascii.brace: depth += 1
            case Ascii.close, Ascii.endBracket, Ascii.endBrace:
                depth -= 1
                if depth == 0 { return place }
            default: break
            }
        }
        return tokens.count - 1
    }

    /// Calls `body` with the first token of each item between parentheses, and with the token after it.
    private mutating func forEachItem(from open: Int, _ body: (inout SourceMembers, Int, Int) -> Void) {
        for item in items(from: open) { body(&self, item.lowerBound, item.upperBound) }
    }

    /// Returns the items between parentheses.
    func items(from open: Int) -> [Range<Int>] {
        var items: [Range<Int>] = [], depth = 0, first = open + 1
        for place in open..<tokens.count {
            switch tokens[place].kind {
            case Ascii.open, Ascii.bracket, Ascii.brace: depth += 1
            case Ascii.close, Ascii.endBracket, Ascii.endBrace:
                depth -= 1
                guard depth == 0 else { continue }
                if place > first { items.append(first..<place) }
                return items
            case Ascii.comma where depth == 1:
                items.append(first..<place)
                first = place + 1
            default: break
            }
        }
        return items
    }
}

/// The words of the language that begin declarations.
struct SourceKeywords {
    enum Kind {
        case access, type, alias, function, initializer, indexing, value, enumerationCase, loop, condition, other
    }

    let kinds: [Int: Kind]
    let extensionWord, inWord, underscore: Int
    /// The variables that a `catch` and an observer of a property have.
    let implicit: Set<Int>

    init(_ words: SourceWords) {
        let spellings: [Kind: [String]] = [
            .access: ["private", "fileprivate"], .type: ["class", "struct", "enum", "protocol", "actor", "extension"],
            .alias: ["typealias", "associatedtype"], .function: ["func"], .initializer: ["init"],
            .indexing: ["subscript"],
            .value: ["let", "var"],
            .enumerationCase: ["case"], .loop: ["for"], .condition: ["if", "guard", "while", "switch", "catch"],
            .other: [
                "else", "do", "defer", "repeat", "return", "throw", "throws", "rethrows", "try", "await", "get", "set",
                "some", "any", "where", "as", "is", "in", "inout", "static", "final", "override", "mutating", "lazy",
                "weak", "public", "package", "open", "self", "Self", "super", "nil", "true", "false",
                "default", "async", "borrowing", "consuming", "import", "indirect", "nonisolated", "unowned",
                "operator",
                "required", "convenience", "willSet", "didSet", "deinit", "isolated",
            ],
        ]
        var kinds: [Int: Kind] = [:]
        for (kind, spellings) in spellings {
            for spelling in spellings { kinds[words.number(of: spelling)] = kind }
        }
        self.kinds = kinds
        extensionWord = words.number(of: "extension")
        inWord = words.number(of: "in")
        underscore = words.number(of: "_")
        implicit = Set(["error", "newValue", "oldValue"].map(words.number(of:)))
    }
}
