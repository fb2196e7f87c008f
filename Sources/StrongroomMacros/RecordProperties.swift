#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// Finds the columns of a type, and the mistakes in it.
struct RecordProperties {
    private(set) var all: [RecordProperty] = []
    private(set) var diagnostics: [Diagnostic] = []

    init(of type: some DeclGroupSyntax) {
        for member in type.memberBlock.members {
            guard let declaration = member.decl.as(VariableDeclSyntax.self) else { continue }
            add(declaration)
        }
        findDuplicates()
        if all.isEmpty && diagnostics.isEmpty { report(.noProperty, at: type.introducer) }
    }

    private mutating func report(_ message: Message, at node: some SyntaxProtocol, fix: FixIt? = nil) {
        diagnostics.append(message.at(node, fix: fix))
    }

    private mutating func add(_ declaration: VariableDeclSyntax) {
        let modifiers = declaration.modifiers.map(\.name.text)
        guard !modifiers.contains("static"), !modifiers.contains("class") else { return }
        let attribute = declaration.attribute("DatabaseColumn")
        if let attribute, declaration.bindings.count > 1 { return report(.severalProperties, at: attribute) }
        let isVariable = declaration.bindingSpecifier.tokenKind == .keyword(.var)
        // Of `var a, b: Int`, the first one has the type of the second.
        var type: TypeSyntax?
        var found: [RecordProperty] = []
        for binding in declaration.bindings.reversed() {
            type = binding.typeAnnotation?.type ?? (binding.initializer == nil ? type : nil)
            guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { continue }
            if let property = property(
                name, binding, type, isVariable: isVariable, isLazy: modifiers.contains("lazy"), attribute, declaration)
            {
                found.append(property)
            }
        }
        all += found.reversed()
    }

    private mutating func property(
        _ name: TokenSyntax, _ binding: PatternBindingSyntax, _ type: TypeSyntax?, isVariable: Bool, isLazy: Bool,
        _ attribute: AttributeSyntax?, _ declaration: VariableDeclSyntax
    ) -> RecordProperty? {
        let text = name.text
        guard binding.isStored else {
            if let attribute { report(.computed(text), at: attribute, fix: .removing(attribute, from: declaration)) }
            return nil
        }
        let isOptional = type?.wrapped != nil && isVariable
        let hasDefault = binding.initializer != nil || isOptional
        if declaration.attribute("NoDatabaseColumn") != nil {
            if !hasDefault { report(.noDefault(text), at: name) }
            return nil
        }
        if isLazy {
            report(.lazy(text), at: name)
            return nil
        }
        if !isVariable, binding.initializer != nil {
            report(.constant(text), at: name, fix: .making(declaration))
            return nil
        }
        var found: [Diagnostic] = []
        let arguments = attribute.map { ColumnArguments($0) { found.append($0) } }
        diagnostics += found
        let storage = storage(arguments)
        check(text, type, storage, attribute, declaration)
        let key = arguments?.isKey ?? (text == "id" && type?.isOptionalInt64 == true && isVariable)
        let property = RecordProperty(
            name: text, column: arguments?.name ?? text.withoutBackticks, type: type, storage: storage,
            hasDefault: binding.initializer != nil, isVariable: isVariable, isKey: key, place: Syntax(name))
        if key { checkKey(property, declaration) }
        return property
    }

    private func storage(_ arguments: ColumnArguments?) -> RecordProperty.Storage {
        guard let arguments else { return .value }
        if let prefix = arguments.prefix { return .part(prefix: prefix) }
        if arguments.isJSON { return .json }
        return arguments.dates.map { .date($0) } ?? .value
    }

    // MARK: - Checks

    /// Reports a type that no column can store.
    private mutating func check(
        _ name: String, _ type: TypeSyntax?, _ storage: RecordProperty.Storage, _ attribute: AttributeSyntax?,
        _ declaration: VariableDeclSyntax
    ) {
        guard let type, case .value = storage else { return }
        let inner = type.wrapped ?? type
        if inner.is(FunctionTypeSyntax.self) || inner.is(TupleTypeSyntax.self) || inner.is(MetatypeTypeSyntax.self) {
            return report(.unsupported(name, type: type.trimmedDescription), at: type)
        }
        let generic = inner.as(IdentifierTypeSyntax.self)?.name.text ?? ""
        guard
            inner.is(ArrayTypeSyntax.self) || inner.is(DictionaryTypeSyntax.self)
                || ["Array", "Dictionary", "Set"].contains(generic)
        else { return }
        report(
            .needsJSON(name, type: type.trimmedDescription), at: type,
            fix: attribute == nil ? .storingAsJSON(declaration) : nil)
    }

    private mutating func checkKey(_ property: RecordProperty, _ declaration: VariableDeclSyntax) {
        if !property.isOptionalInt64 { report(.key(property.name), at: property.place) }
        if !property.isVariable { report(.constantKey(property.name), at: property.place, fix: .making(declaration)) }
    }

    /// Reports columns with equal names, which SQLite compares without regard to the case of ASCII letters.
    private mutating func findDuplicates() {
        var owners: [String: String] = [:]
        for property in all where !property.isPart {
            let folded = property.column.lowercased()
            if let owner = owners[folded] {
                report(.duplicate(property.column, of: owner), at: property.place)
            } else {
                owners[folded] = property.name
            }
        }
    }
}

extension PatternBindingSyntax {
    /// True for a stored property, observers included.
    fileprivate var isStored: Bool {
        switch accessorBlock?.accessors {
        case nil: true
        case .getter: false
        case .accessors(let accessors):
            accessors.allSatisfy { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
        }
    }
}

extension VariableDeclSyntax {
    func attribute(_ name: String) -> AttributeSyntax? {
        attributes.lazy.compactMap { $0.as(AttributeSyntax.self) }.first {
            $0.attributeName.trimmedDescription == name || $0.attributeName.trimmedDescription == "Strongroom." + name
        }
    }
}

extension TypeSyntax {
    fileprivate var isOptionalInt64: Bool {
        ["Int64", "Swift.Int64"].contains(wrapped?.trimmedDescription)
    }
}

extension String {
    /// The name of a property as a column has it: without the backticks of a Swift keyword.
    var withoutBackticks: String { hasPrefix("`") ? String(dropFirst().dropLast()) : self }
}

// MARK: - Corrections

extension FixIt {
    fileprivate static func replacing(
        _ declaration: VariableDeclSyntax, _ title: String, _ change: (inout VariableDeclSyntax) -> Void
    ) -> FixIt {
        var changed = declaration
        change(&changed)
        return FixIt(
            message: Correction(message: title),
            changes: [.replace(oldNode: Syntax(declaration), newNode: Syntax(changed))])
    }

    fileprivate static func making(_ declaration: VariableDeclSyntax) -> FixIt {
        replacing(declaration, "make it a variable") {
            $0.bindingSpecifier = .keyword(
                .var, leadingTrivia: $0.bindingSpecifier.leadingTrivia,
                trailingTrivia: $0.bindingSpecifier.trailingTrivia)
        }
    }

    fileprivate static func storingAsJSON(_ declaration: VariableDeclSyntax) -> FixIt {
        replacing(declaration, "store it as JSON") {
            let leading = $0.leadingTrivia
            $0.leadingTrivia = []
            let attribute: AttributeSyntax = "@DatabaseColumn(json: true)"
            $0.attributes.insert(
                .attribute(attribute.with(\.leadingTrivia, leading).with(\.trailingTrivia, .space)),
                at: $0.attributes.startIndex)
        }
    }

    fileprivate static func removing(_ attribute: AttributeSyntax, from declaration: VariableDeclSyntax) -> FixIt {
        replacing(declaration, "remove the attribute") {
            let leading = $0.leadingTrivia
            $0.attributes = $0.attributes.filter { $0.as(AttributeSyntax.self)?.id != attribute.id }
            $0.leadingTrivia = leading
        }
    }
}
#endif
