import CStrongroom

/// What is wrong with a key file, or could be better, as far as that shows without a secret.
public enum KeyFileProblem: String, Sendable, Equatable, CaseIterable {
    /// It can't be read, or not understood.
    case unreadable
    /// It belongs to another database, or to this one before its data key was renewed: it is older than the database.
    case foreign
    /// No slot is for a recovery code: where all other secrets are lost, the database is.
    case noRecoveryCode
    /// Users other than its owner and its group may read it, and guess at its secrets.
    case readableByOthers

    /// - parameter path: that of the database.
    static func all(_ path: String, _ header: FileHeader?) -> [KeyFileProblem] {
        let files = KeyFiles(database: path), name = files.path(.current)
        guard files.exists(.current) else { return [] }
        guard let file = (try? files.read(.current)) ?? nil else { return [.unreadable] }
        var problems: [KeyFileProblem] = []
        let beside = (try? SaltFile.readAll(.permanent, of: path).map(\.salt)) ?? []
        let salts = (header?.salt).map { [$0] } ?? beside
        let isPending = SaltFile.exists(.rotation, of: path)
        if !isPending, !salts.isEmpty, !salts.contains(file.salt) { problems.append(.foreign) }
        if !file.slots.contains(where: { $0.kind == .recoveryCode }) { problems.append(.noRecoveryCode) }
        if strongroom_file_is_public(name) { problems.append(.readableByOthers) }
        return problems
    }
}
