@testable import Strongroom

extension SQLCipherVersion {
    /// The version of the library that the tests run on.
    static let running: SQLCipherVersion = {
        let answer = try? DatabaseQueue().inDatabase { try $0.cipherVersion }
        guard let version = answer.flatMap(SQLCipherVersion.init(answer:)) else {
            preconditionFailure("no SQLCipher: \(answer ?? "no answer")")
        }
        return version
    }()

    /// From here on, every statement reads the schema, SQLCipher sets itself up with SQLite, and cleans up at the
    /// program's end.
    static let rebuilt = SQLCipherVersion(4, 7)
}
