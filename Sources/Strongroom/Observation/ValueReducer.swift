/// Turns what is fetched into the values of a ``ValueObservation``. See ``ValueReducer``.
public protocol _ValueReducer: SendableMetatype {
    associatedtype Fetched: Sendable
    associatedtype Value: Sendable

    /// Returns the function that runs with the database.
    func _makeFetch() -> @Sendable (Database) throws -> Fetched

    /// Returns the value to notify; nil for none. Runs without the database.
    mutating func _value(_ fetched: Fetched) throws -> Value?
}

/// The transformation of fetched values by a ``ValueObservation``. Made by the methods of observations, not by
/// applications.
public protocol ValueReducer: _ValueReducer {}

/// The reducers that the methods of ``ValueObservation`` make.
public enum ValueReducers {
    /// Notifies what is fetched.
    public struct Fetch<Value: Sendable>: ValueReducer {
        let fetch: @Sendable (Database) throws -> Value

        public func _makeFetch() -> @Sendable (Database) throws -> Value { fetch }

        public mutating func _value(_ fetched: Value) -> Value? { fetched }
    }

    /// Notifies transformed values.
    public struct Map<Base: _ValueReducer, Value: Sendable>: ValueReducer {
        var base: Base
        let transform: @Sendable (Base.Value) throws -> Value

        public func _makeFetch() -> @Sendable (Database) throws -> Base.Fetched { base._makeFetch() }

        public mutating func _value(_ fetched: Base.Fetched) throws -> Value? {
            try base._value(fetched).map(transform)
        }
    }

    /// Notifies values that differ from the former one.
    public struct RemoveDuplicates<Base: ValueReducer>: ValueReducer {
        var base: Base
        let isDuplicate: (Base.Value, Base.Value) -> Bool
        private var former: Base.Value?

        init(base: Base, isDuplicate: @escaping (Base.Value, Base.Value) -> Bool) {
            self.base = base
            self.isDuplicate = isDuplicate
        }

        public func _makeFetch() -> @Sendable (Database) throws -> Base.Fetched { base._makeFetch() }

        public mutating func _value(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base._value(fetched) else { return nil }
            if let former, isDuplicate(former, value) { return nil }
            former = value
            return value
        }
    }

    /// Calls a function for each fetch and each value.
    public struct Trace<Base: ValueReducer>: ValueReducer {
        var base: Base

        /// A Boolean value that indicates whether the functions are the library's own.
        var isPrint = false
        let willFetch: @Sendable () -> Void
        let didReceiveValue: @Sendable (Base.Value) -> Void

        public func _makeFetch() -> @Sendable (Database) throws -> Base.Fetched {
            let fetch = base._makeFetch()
            let willFetch = willFetch
            return { db in
                willFetch()
                return try fetch(db)
            }
        }

        public mutating func _value(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base._value(fetched) else { return nil }
            didReceiveValue(value)
            return value
        }
    }
}

/// A reducer that may run on the connection's own thread, because it waits for nothing.
protocol PromptReducer {
    /// A Boolean value that indicates whether no function of the program runs.
    var isPrompt: Bool { get }
}

extension ValueReducers.Fetch: PromptReducer {
    var isPrompt: Bool { true }
}

extension ValueReducers.Trace: PromptReducer {
    var isPrompt: Bool { isPrint && (base as? any PromptReducer)?.isPrompt == true }
}

extension ValueReducers.RemoveDuplicates: PromptReducer where Base.Value: Equatable {
    var isPrompt: Bool { (base as? any PromptReducer)?.isPrompt == true }
}
