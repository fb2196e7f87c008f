/// The values of a ``ValueObservation``, as an asynchronous sequence.
public struct AsyncValueObservation<Element: Sendable>: AsyncSequence, Sendable {
    public typealias BufferingPolicy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
    public typealias AsyncIterator = Iterator

    typealias Start = @Sendable (
        _ onError: @escaping @Sendable (any Error) -> Void,
        _ onChange: @escaping @Sendable (Element) -> Void) -> AnyDatabaseCancellable

    private let bufferingPolicy: BufferingPolicy
    private let start: Start

    init(bufferingPolicy: BufferingPolicy, start: @escaping Start) {
        self.bufferingPolicy = bufferingPolicy
        self.start = start
    }

    /// Starts an observation.
    public func makeAsyncIterator() -> Iterator {
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: Element.self, throwing: (any Error).self, bufferingPolicy: bufferingPolicy)
        let cancellable = start({ continuation.finish(throwing: $0) }, { continuation.yield($0) })
        // The iterator keeps the observation alive, and not the stream, which the observation keeps alive.
        continuation.onTermination = { [weak cancellable] _ in cancellable?.cancel() }
        return Iterator(iterator: stream.makeAsyncIterator(), cancellable: cancellable)
    }

    /// One observation. It ends when the iterator goes away.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var iterator: AsyncThrowingStream<Element, any Error>.AsyncIterator
        fileprivate let cancellable: AnyDatabaseCancellable

        /// The next value; nil when the task is cancelled.
        ///
        /// - throws: what ended the observation.
        public mutating func next() async throws -> Element? {
            try await iterator.next()
        }
    }
}
