import Foundation

/// The values of a statement's parameters, by position, by name, or both.
///
/// ```swift
/// try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["Arthur", 1000])
/// try db.execute(
///     sql: "INSERT INTO player (name, score) VALUES (:name, :score)", arguments: ["name": "Arthur", "score": 1000])
/// ```
///
/// Names are given without `:`, `@` or `$`. Parameters without a named value get the positional values in order.
///
/// Source: <https://www.sqlite.org/lang_expr.html#varparam>.
public struct StatementArguments: @unchecked Sendable {
    // Unchecked: a literal is only stored if all of its elements are plain values, which share no mutable state.
    private(set) var positional: Positional

    /// The values by name. Nil if there are none, which avoids reference counting.
    private var named: [String: DatabaseValue]?

    /// A Boolean value that indicates whether there are no values.
    public var isEmpty: Bool { positional.count == 0 && !hasNames }
    var hasNames: Bool { named != nil }

    var namedValues: [String: DatabaseValue] {
        get { named ?? [:] }
        set { named = newValue.isEmpty ? nil : newValue }
    }

    init(values: [DatabaseValue]) {
        self.positional = .values(values)
        self.named = nil
    }

    private init(namedValues: [String: DatabaseValue]) {
        self.positional = .values([])
        self.named = namedValues.isEmpty ? nil : namedValues
    }

    /// The positional values.
    var values: [DatabaseValue] {
        get { positional.values }
        _modify {
            var values = positional.values
            positional = .values([])
            defer { positional = .values(values) }
            yield &values
        }
    }

    // MARK: - By position

    /// Creates empty arguments.
    public init() {
        self.init(values: [])
    }

    /// Creates positional arguments. Nil is NULL.
    public init(_ values: some Sequence<(any DatabaseValueConvertible)?>) {
        self.init(values: values.map { $0?.databaseValue ?? .null })
    }

    /// Creates positional arguments.
    public init<S: Sequence>(_ values: S) where S.Element: DatabaseValueConvertible {
        self.init(values: values.map(\.databaseValue))
    }

    /// Creates positional arguments. Nil if an element can't be stored in a database.
    public init?(_ array: [Any]) {
        var values: [DatabaseValue] = []
        for element in array {
            guard let value = DatabaseValue(value: element) else { return nil }
            values.append(value)
        }
        self.init(values: values)
    }

    // MARK: - By name

    /// Creates named arguments. Nil is NULL.
    public init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(namedValues: dictionary.mapValues { $0?.databaseValue ?? .null })
    }

    /// Creates named arguments. If a key occurs twice, its last value is used.
    public init(_ keysAndValues: some Sequence<(String, (any DatabaseValueConvertible)?)>) {
        let pairs = keysAndValues.map { ($0.0, $0.1?.databaseValue ?? .null) }
        self.init(namedValues: Dictionary(pairs, uniquingKeysWith: { $1 }))
    }

    /// Creates named arguments. Nil if a key is not a string, or a value can't be stored in a database.
    public init?(_ dictionary: [AnyHashable: Any]) {
        var namedValues: [String: DatabaseValue] = [:]
        for (key, element) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: element) else { return nil }
            namedValues[name] = value
        }
        self.init(namedValues: namedValues)
    }

    // MARK: - Combining

    /// Appends positional values, and adds named ones. Returns the values that were replaced, by name.
    public mutating func append(contentsOf arguments: StatementArguments) -> [String: DatabaseValue] {
        var replaced: [String: DatabaseValue] = [:]
        values.append(contentsOf: arguments.values)
        for (name, value) in arguments.namedValues {
            replaced[name] = namedValues.updateValue(value, forKey: name)
        }
        return replaced
    }

    /// Returns the arguments of both sides.
    ///
    /// - precondition: the names are unique. Use `&+` to give precedence to the right side.
    public static func + (lhs: StatementArguments, rhs: StatementArguments) -> StatementArguments {
        var sum = lhs
        sum += rhs
        return sum
    }

    /// Returns the arguments of both sides. A name of the right side replaces the same name of the left side.
    public static func &+ (lhs: StatementArguments, rhs: StatementArguments) -> StatementArguments {
        var sum = lhs
        _ = sum.append(contentsOf: rhs)
        return sum
    }

    /// Adds arguments.
    ///
    /// - precondition: the names are unique. Use `append(contentsOf:)` to give precedence to the right side.
    public static func += (lhs: inout StatementArguments, rhs: StatementArguments) {
        let replaced = lhs.append(contentsOf: rhs)
        if !replaced.isEmpty {
            let names = replaced.keys.sorted().joined(separator: ", ")
            fatalError("already defined statement argument: \(names). Use &+ to replace values.")
        }
    }
}

extension StatementArguments: ExpressibleByArrayLiteral {
    /// Creates positional arguments.
    @inlinable
    public init(arrayLiteral elements: (any DatabaseValueConvertible)?...) {
        // In an optimized program, an array that is not kept is on the stack of the caller.
        if elements.count == 1 {
            self.init(value: elements.firstValue)
        } else {
            self.init(literal: elements)
        }
    }

    @usableFromInline
    init(value: DatabaseValue) {
        positional = if case .int64(let number) = value.storage { .integer(number) } else { .values([value]) }
        named = nil
    }

    // Not inlinable: in the module of the caller, Swift would use unspecialized code for the array, which costs more.
    @usableFromInline
    init(literal elements: consuming [(any DatabaseValueConvertible)?]) {
        positional = elements.arePlain ? .literal(elements) : .values(elements.map { $0?.databaseValue ?? .null })
        named = nil
    }
}

extension StatementArguments: ExpressibleByDictionaryLiteral {
    /// Creates named arguments.
    public init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements)
    }
}

extension StatementArguments: Hashable {
    /// Returns true if the arguments have the same values.
    public static func == (lhs: StatementArguments, rhs: StatementArguments) -> Bool {
        lhs.values == rhs.values && lhs.namedValues == rhs.namedValues
    }

    /// Hashes the values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(values)
        hasher.combine(namedValues)
    }
}

extension StatementArguments: CustomStringConvertible {
    /// The values as in a Swift literal. They may be secrets: keep them out of logs.
    public var description: String {
        let named = namedValues.sorted { $0.key < $1.key }.map { "\($0.key.debugDescription): \($0.value)" }
        return "[" + (named + values.map(\.description)).joined(separator: ", ") + "]"
    }
}

extension StatementArguments {
    /// Removes the values of parameters from the arguments, and returns them in the order of the parameters.
    ///
    /// Positional values are removed. Named ones stay for later statements of the same SQL string.
    ///
    /// - parameter names: the name of each parameter without its prefix. Nil if it has none.
    /// - throws: `SQLITE_MISUSE` if values are missing.
    mutating func take(for names: [String?]) throws -> [DatabaseValue] {
        if !hasNames, values.count == names.count {
            defer { values = [] }
            return values
        }
        var taken: [DatabaseValue] = []
        var next = values.startIndex
        for name in names {
            if let name, let value = namedValues[name] {
                taken.append(value)
            } else if next < values.endIndex {
                taken.append(values[next])
                next += 1
            } else {
                throw Self.missing(name, given: values.count)
            }
        }
        values.removeFirst(next)
        return taken
    }

    private static func missing(_ name: String?, given: Int) -> DatabaseError {
        guard let name else { return wrongCount(given) }
        return DatabaseError(resultCode: .SQLITE_MISUSE, message: "missing statement argument: \(name)")
    }

    private static func wrongCount(_ given: Int) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_MISUSE, message: "wrong number of statement arguments: \(given)")
    }

    /// Throws if positional values are left.
    ///
    /// - throws: `SQLITE_MISUSE`.
    func requireAllTaken(of given: Int) throws {
        if !values.isEmpty { throw Self.wrongCount(given) }
    }
}

/// Returns question marks for a list of arguments: `?,?,?`.
public func databaseQuestionMarks(count: Int) -> String {
    repeatElement("?", count: count).joined(separator: ",")
}
