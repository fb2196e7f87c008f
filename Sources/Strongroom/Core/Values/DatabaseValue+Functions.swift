import Foundation

// Values as arguments and results of functions that SQLite calls.

extension DatabaseValue {
    /// Creates the value of an argument.
    init(_ argument: SQLiteArgument) {
        storage =
            switch argument.kind {
            case .null: .null
            case .integer: .int64(argument.int64)
            case .double: .double(argument.double)
            case .text: .string(String(decoding: argument.text, as: UTF8.self))
            case .blob: .blob(Data(argument.blob))
            }
    }

    /// Sets the value as the result of a call.
    func setResult(of call: FunctionContext) {
        switch storage {
        case .null: call.returnNull()
        case .int64(let value): call.return(value)
        case .double(let value): call.return(value)
        case .string(var value): value.withUTF8 { call.return(text: $0) }
        case .blob(let value): value.withUnsafeBytes { call.return(blob: $0) }
        }
    }
}
