/// The source of the values of an observation.
enum ValueSource {
    /// The pool's readers fetch values.
    case pool(DatabasePool)

    /// The writer fetches values.
    case writer(any DatabaseWriter)

    /// There is one value only.
    case constant(any DatabaseReader)

    init(_ reader: any DatabaseReader, requiresWriteAccess: Bool) {
        self =
            switch reader {
            case let wrapper as any ReaderWrapper: Self(wrapper.reader, requiresWriteAccess: requiresWriteAccess)
            case _ where reader.configuration.readonly && reader.externalChanges == nil: .constant(reader)
            case let pool as DatabasePool where !requiresWriteAccess: .pool(pool)
            case let writer as any DatabaseWriter: .writer(writer)
            default: .constant(reader)
            }
    }

    var reader: any DatabaseReader {
        switch self {
        case .constant(let reader): reader
        case .writer(let writer): writer
        case .pool(let pool): pool
        }
    }
}
