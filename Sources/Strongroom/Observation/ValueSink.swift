/// The functions that receive the values of an observation, and the scheduler that calls them.
struct ValueSink<Value: Sendable>: Sendable {
    let schedule: @Sendable (@escaping @Sendable () -> Void) -> Void
    let onError: @Sendable (any Error) -> Void
    let onChange: @Sendable (Value) -> Void

    func notify(_ result: Result<Value, any Error>) {
        switch result {
        case .success(let value): onChange(value)
        case .failure(let error): onError(error)
        }
    }
}
