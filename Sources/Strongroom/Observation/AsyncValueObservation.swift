/// The values of a ``ValueObservation``, as an asynchronous sequence.
public struct AsyncValueObservation<Element: Sendable>: AsyncSequence, Sendable {
    /// The rule for values that arrive while the loop is busy.
    public typealias BufferingPolicy = AsyncThrowingStream<Element, any Error>.Continuation.BufferingPolicy
    /// The iterator, which is one observation, or one subscriber of a ``SharedValueObservation``.
    public typealias AsyncIterator = Iterator

    typealias Start =
        @Sendable (
            _ onError: @escaping @Sendable (any Error) -> Void,
            _ onChange: @escaping @Sendable (Element) -> Void
        ) -> AnyDatabaseCancellable

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
        // The iterator holds the observation, and the observation holds the stream: a reference back would be a cycle.
        continuation.onTermination = { [weak cancellable] _ in cancellable?.cancel() }
        return Iterator(iterator: stream.makeAsyncIterator(), cancellable: cancellable)
    }

    /// One observation. It ends when the iterator is released.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var iterator: AsyncThrowingStream<Element, any Error>.AsyncIterator
        fileprivate let cancellable: AnyDatabaseCancellable

        /// Returns the next value. Nil when the task is cancelled.
        ///
        /// - throws: the error that ended the observation.
        public mutating func next() async throws -> Element? {
            // Used by one task at a time, like each iterator. A copy refers to the same stream.
            nonisolated(unsafe) var copy = iterator
            return try await copy.next()
        }
    }
}
