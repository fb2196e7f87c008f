import Foundation
@testable import Context

/// Runs the program that the argument names, inside of an access: programs may use `db`.
let name = CommandLine.arguments[1]
typealias EntryPoint = @convention(c) (CInt, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt
guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else { fatalError("There is no program \(name).") }
let entryPoint = unsafeBitCast(symbol, to: EntryPoint.self)
withAccess { exit(entryPoint(CommandLine.argc, CommandLine.unsafeArgv)) }
