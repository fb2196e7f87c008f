import Dispatch

extension ValueObservation {
    /// Starts the observation. `onChange` gets the first value, and a new one after each change, on the main actor.
    ///
    /// The observation ends when the returned object is cancelled or released, and with the first error. After a
    /// cancellation on the main actor, no function is called.
    ///
    /// - parameters:
    ///   - reader: the database.
    ///   - scheduler: `.mainActor`, the default, or `.immediate`.
    ///   - onError: called with the error that ended the observation.
    ///   - onChange: called with each value.
    @MainActor
    @preconcurrency
    public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationMainActorScheduler = .mainActor,
        onError: @escaping @MainActor @Sendable (any Error) -> Void,
        onChange: @escaping @MainActor @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        start(
            in: reader,
            scheduler: scheduler,
            onError: { error in MainActor.assumeIsolated { onError(error) } },
            onChange: { value in MainActor.assumeIsolated { onChange(value) } })
    }

    /// Starts the observation. `onChange` gets the first value, and a new one after each change, from the scheduler.
    ///
    /// The observation ends when the returned object is cancelled or released, and with the first error. If it is
    /// cancelled on another thread, a call that is running goes on to its end.
    @preconcurrency
    public func start(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        start(in: reader, scheduler: scheduler, onError: onError, onChange: onChange)
    }

    private func start(
        in reader: any DatabaseReader,
        scheduler: some ValueObservationScheduler,
        onError: @escaping @Sendable (any Error) -> Void,
        onChange: @escaping @Sendable (Reducer.Value) -> Void
    ) -> AnyDatabaseCancellable {
        let isImmediate = scheduler.immediateInitialValue()
        for willStart in events.willStart { willStart() }
        let observer = ValueObserver(
            self, in: reader, ValueSink(schedule: scheduler.schedule, onError: onError, onChange: onChange))
        observer.start(isImmediate: isImmediate)
        return AnyDatabaseCancellable(cancel: observer.cancel)
    }

    /// Returns the values as an asynchronous sequence. Each loop over it is an observation of its own.
    ///
    /// The observation ends with the loop, with its task, or with an error, which the loop throws.
    ///
    /// - parameters:
    ///   - reader: the database.
    ///   - scheduler: the scheduler that adds values to the sequence. Default: `.task`.
    ///   - bufferingPolicy: the rule for values that arrive while the loop is busy. Default: all are buffered.
    public func values(
        in reader: any DatabaseReader, scheduling scheduler: some ValueObservationScheduler = .task,
        bufferingPolicy: AsyncValueObservation<Reducer.Value>.BufferingPolicy = .unbounded
    ) -> AsyncValueObservation<Reducer.Value> {
        AsyncValueObservation(bufferingPolicy: bufferingPolicy, start: starting(in: reader, scheduler))
    }

    /// Returns one observation for any number of subscribers.
    ///
    /// - parameters:
    ///   - reader: the database.
    ///   - scheduler: the scheduler that notifies all subscribers. Default: the main dispatch queue.
    ///   - extent: the lifetime of the observation. Default: while there are subscribers.
    public func shared(
        in reader: any DatabaseReader,
        scheduling scheduler: some ValueObservationScheduler = .async(onQueue: .main),
        extent: SharedValueObservationExtent = .whileObserved
    ) -> SharedValueObservation<Reducer.Value> {
        SharedValueObservation(scheduler: scheduler, extent: extent, start: starting(in: reader, scheduler))
    }

    /// Returns the function that starts the observation.
    func starting(
        in reader: any DatabaseReader,
        _ scheduler: some ValueObservationScheduler
    ) -> AsyncValueObservation<Reducer.Value>.Start {
        { start(in: reader, scheduler: scheduler, onError: $0, onChange: $1) }
    }
}
