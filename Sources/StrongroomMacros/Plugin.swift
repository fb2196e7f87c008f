#if Macros
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [DatabaseRecordMacro.self, DatabaseColumnMacro.self]
}
#else
// Without the trait there is no macro, and swift-syntax is neither fetched nor built.
@main
enum Plugin {
    static func main() {}
}
#endif
