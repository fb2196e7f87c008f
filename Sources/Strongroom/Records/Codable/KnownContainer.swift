/// A container that is kept, with the type of its keys: asking Swift for its type would cost more than decoding a
/// property.
class AnyKnownContainer {
    let key: ObjectIdentifier

    /// The table that the container refers to.
    private let columns: KeyColumns?

    init(_ key: Any.Type, _ columns: KeyColumns?) {
        self.key = ObjectIdentifier(key)
        self.columns = columns
    }
}

final class KnownContainer<Container>: AnyKnownContainer {
    private let container: Container

    init(_ container: Container, key: Any.Type, _ columns: KeyColumns? = nil) {
        self.container = container
        super.init(key, columns)
    }

    // A call, because only this object knows the container's type.
    @inline(never)
    func copy() -> Container { container }
}
