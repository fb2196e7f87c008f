/// A container that is kept, with the type of its keys: asking Swift for its type would cost more than decoding a
/// property.
class AnyKnownContainer {
    let key: ObjectIdentifier

    init(_ key: Any.Type) {
        self.key = ObjectIdentifier(key)
    }
}

final class KnownContainer<Container>: AnyKnownContainer {
    private let container: Container

    init(_ container: Container, key: Any.Type) {
        self.container = container
        super.init(key)
    }

    // A call, because only this object knows the container's type.
    @inline(never)
    func copy() -> Container { container }
}
