import Foundation
import Strongroom
import StrongroomReplica

/// The keys that may open restore points: the present one of the database, and former ones.
final class PointKeys {
    /// A key, and the name by which it was given.
    private struct Candidate {
        let key: PointKey
        let source: String?
        let secret: GivenSecret?
        let store: String?
    }

    private var candidates: [Candidate] = []
    private let format: FormatOptions

    init(
        _ passphrase: PassphraseOptions, _ former: FormerKeyOptions, keyStore: String?, of name: String,
        _ format: FormatOptions
    ) throws {
        self.format = format
        if let keyStore {
            candidates = [Candidate(key: .current, source: nil, secret: nil, store: keyStore)]
        } else {
            candidates = [
                Candidate(key: .current, source: nil, secret: try passphrase.current(of: name), store: nil)
            ]
        }
        candidates += try former.secrets().map {
            Candidate(key: .former, source: $0.name, secret: $0.secret, store: nil)
        }
    }

    /// A restore point that was opened, or that no key opens.
    struct Opening {
        var key = PointKey.unknown
        /// The file of the former key, or its identifier in the key store.
        var source: String?
        var problems: [String] = []
        var code: [UInt8]?
    }

    /// Opens a restore point with the key that opened the one before, or with another one.
    func open(_ sample: ReplicaSample) throws -> Opening {
        let target = try Target(sample.path, format)
        guard !target.isClear else {
            return Opening(key: .clear, problems: try target.check(nil).problems)
        }
        for index in candidates.indices {
            let candidate = candidates[index]
            do {
                let found = try open(target, candidate, sample)
                candidates.remove(at: index)
                candidates.insert(candidate, at: 0)
                return found
            } catch let failure as Failure where failure.status == .wrongKey {
                continue
            }
        }
        return Opening()
    }

    private func open(_ target: Target, _ candidate: Candidate, _ sample: ReplicaSample) throws -> Opening {
        let found: DatabaseFile.Opening
        if let secret = candidate.secret {
            found = try target.recognized(secret).opening(try secret.key, sample.statement, secret)
        } else {
            found = try target.opening(.managed(by: FileKeyStore(path: candidate.store!)), sample.statement, nil)
        }
        var opening = Opening(key: candidate.key, source: candidate.source, problems: found.report.problems)
        if case .former(let former) = found.storedKey {
            (opening.key, opening.source) = (.former, former.identifier)
        }
        opening.code = found.code
        return opening
    }
}

/// The key that opens a restore point.
enum PointKey: String {
    /// The first one that was given: the key that the database has now.
    case current
    case former
    /// None of the keys that were given.
    case unknown
    /// The database is not encrypted.
    case clear
}

extension Target {
    fileprivate func opening(
        _ key: DatabaseKey, _ statement: [UInt8], _ secret: GivenSecret?
    ) throws -> DatabaseFile.Opening {
        try attributing(to: name, opening: secret) {
            try DatabaseFile.open(path: place.path, encryption: encryption(key), statement: statement)
        }
    }
}
