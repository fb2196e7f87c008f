import ArgumentParser
import Strongroom

/// The format of a database that is not in that of SQLCipher 4.
struct FormatOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The version of SQLCipher that the database was made by: 1, 2, 3 or 4 (the default).", valueName: "n"))
    var sqlcipherVersion = 4

    @Option(help: ArgumentHelp("The bytes in a page of the database, where they are not the usual ones of that version.",
                               valueName: "bytes"))
    var pageSize: Int?

    func validate() throws {
        guard (1...4).contains(sqlcipherVersion) else { throw ValidationError("--sqlcipher-version is 1, 2, 3 or 4.") }
        if let pageSize { try Self.validate(pageSize: pageSize, of: "--page-size") }
    }

    static func validate(pageSize: Int, of option: String) throws {
        guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else {
            throw ValidationError("\(option) is a power of two from 512 to 65536.")
        }
    }

    var settings: CipherSettings {
        var settings: CipherSettings = switch sqlcipherVersion {
        case 1: .sqlcipher1
        case 2: .sqlcipher2
        case 3: .sqlcipher3
        default: .sqlcipher4
        }
        if let pageSize { settings.pageSize = pageSize }
        return settings
    }
}
