/// The progress of a rotation, an encryption, a decryption or a check.
public struct EncryptionProgress: Sendable, Equatable {
    /// The number of pages that are complete in this phase.
    public let completedPageCount: Int
    /// The number of pages in the database.
    public let totalPageCount: Int
    /// The phase of the work. The count starts again with each phase.
    public var phase = Phase.writing

    /// A phase of the work.
    public enum Phase: String, Sendable {
        case writing, checking
    }

    /// A Boolean value that indicates whether all pages are complete in this phase.
    public var isCompleted: Bool { completedPageCount >= totalPageCount }
}
