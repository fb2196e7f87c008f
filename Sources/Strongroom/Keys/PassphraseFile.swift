import Foundation

extension DatabaseKey {
    /// The users who may read a file that contains a passphrase.
    public enum Readers: Sendable {
        /// Its owner only: mode 0600 or stricter.
        case owner
        /// Its owner and its group: mode 0640 or stricter.
        case group
        /// Everyone, for containers that mount secrets in a file system of their own.
        case everyone

        var forbidden: mode_t {
            switch self {
            case .owner: S_IRWXG | S_IRWXO
            case .group: S_IWGRP | S_IRWXO
            case .everyone: S_IWGRP | S_IWOTH
            }
        }

        var mode: String {
            switch self {
            case .owner: "600"
            case .group: "640"
            case .everyone: "644"
            }
        }
    }
}

/// A file that contains a passphrase.
struct PassphraseFile: Sendable {
    let path: String
    let readers: DatabaseKey.Readers

    func read() throws -> SecretBytes {
        do {
            return try SecretFile(path: path, readers: readers, followsLinks: true).read()
        } catch let failure as SecretFile.Failure {
            throw error(failure)
        }
    }

    private func error(_ failure: SecretFile.Failure) -> DatabaseError {
        let (code, advice): (ResultCode, String) =
            switch failure {
            case .unreadable: (.SQLITE_CANTOPEN, "check its path and its permissions")
            case .notAFile: (.SQLITE_MISUSE, "give the path of a file")
            case .foreign: (.SQLITE_PERM, "keep the passphrase in a file of the user who runs the program")
            case .exposed:
                (.SQLITE_PERM, "chmod \(readers.mode) it, and change the passphrase if they may have read it")
            case .tooLong: (.SQLITE_MISUSE, "check its name")
            }
        return DatabaseError(code, refusing: "the passphrase file \(path) \(failure.words)", advice: advice)
    }
}
