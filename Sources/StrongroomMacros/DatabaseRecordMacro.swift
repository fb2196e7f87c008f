#if Macros
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@DatabaseRecord`.
///
/// All code of a structure is in an extension, so that it keeps its memberwise initializer. The initializers of a class
/// are members.
public enum DatabaseRecordMacro: ExtensionMacro, MemberMacro {
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard let code = code(of: node, declaration, report: { context.diagnose($0) }) else { return [] }
        let members = code.members(withInitializers: declaration.is(StructDeclSyntax.self))
        let text = """
            extension \(type.trimmedDescription): \(code.conformances.joined(separator: ", ")) {
            \(members.joined(separator: "\n\n"))
            }
            """
        return [try ExtensionDeclSyntax("\(raw: text)")]
    }

    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        // The extension reports the errors.
        guard declaration.is(ClassDeclSyntax.self), let code = code(of: node, declaration, report: { _ in })
        else { return [] }
        return code.initializers.map { "\(raw: $0)" }
    }

    private static func code(
        of node: AttributeSyntax, _ declaration: some DeclGroupSyntax, report: (Diagnostic) -> Void
    ) -> RecordCode? {
        let name: TokenSyntax, parameters: GenericParameterClauseSyntax?
        if let structure = declaration.as(StructDeclSyntax.self) {
            (name, parameters) = (structure.name, structure.genericParameterClause)
        } else if let type = declaration.as(ClassDeclSyntax.self) {
            (name, parameters) = (type.name, type.genericParameterClause)
        } else {
            report(Message.noType.at(node))
            return nil
        }
        if let parameters {
            report(Message.generic.at(parameters))
            return nil
        }
        let properties = RecordProperties(of: declaration)
        properties.diagnostics.forEach(report)
        guard properties.diagnostics.isEmpty else { return nil }
        return RecordCode(
            name: name.text, table: table(in: node), properties: properties.all, declaration: declaration)
    }

    /// The expression of the table's name. Nil for the default.
    private static func table(in node: AttributeSyntax) -> String? {
        guard case .argumentList(let arguments) = node.arguments, let argument = arguments.first,
            !argument.expression.is(NilLiteralExprSyntax.self)
        else { return nil }
        return argument.expression.trimmedDescription
    }
}

/// `@DatabaseColumn` and `@NoDatabaseColumn`, which `@DatabaseRecord` reads.
public enum DatabaseColumnMacro: PeerMacro {
    public static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        []
    }
}
#endif
