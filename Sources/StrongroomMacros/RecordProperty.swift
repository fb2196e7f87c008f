#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// A stored property of a record, and how it is stored.
struct RecordProperty {
    /// How a value goes into a column and out of it.
    enum Storage {
        case value
        case date(String)
        case json
        case part(prefix: String)
    }

    let name: String
    let column: String
    let type: TypeSyntax?
    let storage: Storage
    let hasDefault: Bool
    let isVariable: Bool
    let isKey: Bool
    let place: Syntax

    var isPart: Bool { if case .part = storage { true } else { false } }

    /// The type of a part: `Address` of `Address?`.
    var partType: String {
        guard let type else { return "" }
        return type.wrapped?.trimmedDescription ?? type.trimmedDescription
    }

    /// True if the type is `Int64?`, in one of its spellings.
    var isOptionalInt64: Bool {
        guard let wrapped = type?.wrapped?.trimmedDescription else { return false }
        return wrapped == "Int64" || wrapped == "Swift.Int64"
    }
}

extension TypeSyntax {
    /// The type inside an optional. Nil for other types.
    var wrapped: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        guard let generic = self.as(IdentifierTypeSyntax.self), generic.name.text == "Optional",
            let argument = generic.genericArgumentClause?.arguments.first?.argument.as(TypeSyntax.self)
        else { return nil }
        return argument
    }
}

/// The arguments of `@DatabaseColumn`.
struct ColumnArguments {
    var name: String?
    var isKey: Bool?
    var dates: String?
    var isJSON = false
    var prefix: String?

    init(_ attribute: AttributeSyntax, report: (Diagnostic) -> Void) {
        guard case .argumentList(let arguments) = attribute.arguments else { return }
        var storages = 0
        for argument in arguments {
            let value = argument.expression
            switch argument.label?.text {
            case nil:
                name = value.literal
                if name == nil { report(Message.notLiteral("name").at(value)) }
                if name == "" { report(Message.emptyName.at(value)) }
            case "prefix":
                prefix = value.literal
                storages += 1
                if prefix == nil { report(Message.notLiteral("prefix").at(value)) }
            case "dates":
                dates = value.trimmedDescription
                storages += 1
                if dates!.contains("custom") { report(Message.customDates.at(value)) }
            case "json", "primaryKey":
                guard let literal = value.as(BooleanLiteralExprSyntax.self) else {
                    report(Message.notLiteral(argument.label!.text).at(value))
                    continue
                }
                let isTrue = literal.literal.text == "true"
                if argument.label!.text == "primaryKey" {
                    isKey = isTrue
                } else {
                    isJSON = isTrue
                    storages += isTrue ? 1 : 0
                }
            default: break
            }
            if storages > 1 || prefix != nil && name != nil {
                report(Message.several(argument.label?.text ?? "name").at(argument))
                return
            }
        }
    }
}

extension ExprSyntax {
    /// The text of a string literal without interpolation.
    fileprivate var literal: String? {
        self.as(StringLiteralExprSyntax.self)?.representedLiteralValue
    }
}
#endif
