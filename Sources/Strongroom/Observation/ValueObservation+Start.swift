import Dispatch

extension ValueObservation {
    /// Starts the observation: `onChange` gets the first value, and a fresh one after each change, on the main actor.
    ///
    /// The observation ends when the returned object is cancelled or goes away, and with the first error. Nothing is
    /// called after a cancellation on the main actor.
    ///
    /// - parameter scheduler: `.mainActor`, the default, or `.immediate`.
    @MainActor
    @preconcurrency
    public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationMainActorScheduler = .mainActor,
        onError: @escaping @MainActor @Sendable (any Error) -> Void,
        onChange: @escaping @MainActor @Sendable (Reducer.Value) -> Void) -> AnyDatabaseCancellable
    {
        start(
            in: reader,
            scheduler: scheduler,
            onError: { error in MainActor.assumeIsolated { onError(error) } },
            onChange: { value in MainActor.assumeIsolated { onChange(value) } })
    }

    /// Starts the observation: `onChange` gets the first value, and a fresh one after each change, where `scheduler`
    /// says.
    ///
    /// The observation ends when the returned object is cancelled or goes away, and with the first error. A call that
    /// runs while the observation is cancelled on another thread goes on to its end.
    @preconcurrency
    public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void) -> AnyDatabaseCancellable
    {
        start(in: reader, scheduler: scheduler, onError: onError, onChange: onChange)
    }

    private func start(
        in reader: any DatabaseReader,
        scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void) -> AnyDatabaseCancellable
    {
        let isImmediate = scheduler.immediateInitialValue()
        for willStart in events.willStart { willStart() }
        let observer = ValueObserver(
            self, in: reader, ValueSink(schedule: scheduler.schedule, onError: onError, onChange: onChange))
        observer.start(isImmediate: isImmediate)
        return AnyDatabaseCancellable(cancel: observer.cancel)
    }

    /// The values as an asynchronous sequence: each loop over it is an observation of its own.
    ///
    /// The observation ends with the loop, with its task, or with an error, which the loop throws.
    ///
    /// - parameter scheduler: where values are put into the sequence. Default: `.task`.
    /// - parameter bufferingPolicy: what becomes of values while the loop is busy. Default: all are kept.
    public func values(
        in reader: any DatabaseReader, scheduling scheduler: some ValueObservationScheduler = .task,
        bufferingPolicy: AsyncValueObservation<Reducer.Value>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Reducer.Value> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy, start: starting(in: reader, scheduler))
    }

    /// One observation for any number of subscribers.
    ///
    /// - parameter scheduler: where all of them are notified. Default: the main dispatch queue.
    /// - parameter extent: when the observation ends. Default: when the last subscriber goes.
    public func shared(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main),
        extent: SharedValueObservationExtent = .whileObserved) -> SharedValueObservation<Reducer.Value>
    {
        SharedValueObservation(scheduler: scheduler, extent: extent, start: starting(in: reader, scheduler))
    }

    /// Returns the function that starts the observation.
    func starting(
        in reader: any DatabaseReader,
        _ scheduler: some ValueObservationScheduler) -> AsyncValueObservation<Reducer.Value>.Start
    {
        { start(in: reader, scheduler: scheduler, onError: $0, onChange: $1) }
    }
}
