/// A problem of a slot file that can be detected without a secret.
public enum SlotFileProblem: String, Sendable, Equatable, CaseIterable {
    /// The slot file can't be read, or is damaged.
    case unreadable
    /// The slot file belongs to another database, or is from before the data key was renewed.
    case foreign
    /// No slot is for a recovery code: if all other secrets are lost, so is the database.
    case noRecoveryCode
    /// Users other than the owner and the group of the slot file may read it, and guess its secrets.
    case readableByOthers

    /// Returns the problems of the slot file of a database.
    static func all(_ path: String, _ header: FileHeader?) -> [SlotFileProblem] {
        let files = SlotFiles(database: path), name = files.path(.current)
        guard files.exists(.current) else { return [] }
        guard let file = (try? files.read(.current)) ?? nil else { return [.unreadable] }
        var problems: [SlotFileProblem] = []
        let beside = (try? SaltFile.readAll(.permanent, of: path).map(\.salt)) ?? []
        let salts = (header?.salt).map { [$0] } ?? beside
        let isPending = SaltFile.exists(.rotation, of: path)
        if !isPending, !salts.isEmpty, !salts.contains(file.salt) { problems.append(.foreign) }
        if !file.slots.contains(where: { $0.kind == .recoveryCode }) { problems.append(.noRecoveryCode) }
        if NamedFile.isPublic(name) { problems.append(.readableByOthers) }
        return problems
    }
}
