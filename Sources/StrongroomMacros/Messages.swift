#if Macros
import SwiftDiagnostics
import SwiftSyntax

/// The errors of the macros. Each says what is wrong and what to do.
enum Message: DiagnosticMessage {
    case noType
    case generic
    case noProperty
    case computed(String)
    case lazy(String)
    case constant(String)
    case severalProperties
    case duplicate(String, of: String)
    case needsJSON(String, type: String)
    case unsupported(String, type: String)
    case noDefault(String)
    case emptyName
    case notLiteral(String)
    case customDates
    case key(String)
    case constantKey(String)
    case several(String)

    var message: String {
        switch self {
        case .noType: "@DatabaseRecord writes the code of structures and classes. Write that of this type by hand"
        case .generic:
            "@DatabaseRecord does not support generic types, whose columns would not be constant. Write it by hand"
        case .noProperty: "a record needs a stored property, and this type has none"
        case .computed(let name): "'\(name)' is computed, and a column needs a stored property. Remove the attribute"
        case .lazy(let name):
            "'\(name)' is lazy, and a column needs a value at any time. Add @NoDatabaseColumn or remove lazy"
        case .constant(let name):
            "'\(name)' is a constant with a value, which can't be read from a row. Make it a variable"
        case .severalProperties:
            "a declaration of several properties can't have the attribute of one. Declare them one by one"
        case .duplicate(let name, let other):
            "the column '\(name)' is that of '\(other)', too. Give one of them another name"
        case .needsJSON(let name, let type): "'\(name)' is \(type), and no database value. Store it as JSON"
        case .unsupported(let name, let type): "'\(name)' is \(type), which no column can store. Add @NoDatabaseColumn"
        case .noDefault(let name):
            "'\(name)' is no column, and has no value where a row is read. Give it a default value"
        case .emptyName: "a column needs a name. Remove the argument, or name the column"
        case .notLiteral(let label): "'\(label)' has to be a literal, because the macro reads it at compile time"
        case .customDates:
            "a custom strategy stores dates, but does not read them. Use another one, or write the record by hand"
        case .key(let name): "'\(name)' can't take over the id of a row. Its type has to be Int64?"
        case .constantKey(let name):
            "'\(name)' is a constant, which can't take over the id of a row. Make it a variable"
        case .several(let label): "'\(label)' can't be combined with the other arguments. Keep one of them"
        }
    }

    var severity: DiagnosticSeverity { .error }

    var diagnosticID: MessageID {
        MessageID(domain: "Strongroom", id: String(describing: self).prefix { $0 != "(" }.description)
    }

    func at(_ node: some SyntaxProtocol, fix: FixIt? = nil) -> Diagnostic {
        Diagnostic(node: node, message: self, fixIts: fix.map { [$0] } ?? [])
    }
}

/// The title of a correction.
struct Correction: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "Strongroom", id: message) }
}
#endif
