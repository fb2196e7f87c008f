/// A type that turns fetched data into the values of a ``ValueObservation``. See ``ValueReducer``.
public protocol _ValueReducer: SendableMetatype {
    associatedtype Fetched: Sendable
    associatedtype Value: Sendable

    /// Returns the function that runs with the database.
    func _makeFetch() -> @Sendable (Database) throws -> Fetched

    /// Returns the value to notify. Nil notifies none. Runs outside of the access.
    mutating func _value(_ fetched: Fetched) throws -> Value?
}

/// The transformation of fetched data by a ``ValueObservation``. The methods of observations create reducers.
public protocol ValueReducer: _ValueReducer {}

/// The reducers that the methods of ``ValueObservation`` create.
public enum ValueReducers {
    /// A reducer that notifies the fetched value.
    public struct Fetch<Value: Sendable>: ValueReducer {
        let fetch: @Sendable (Database) throws -> Value

        /// Returns the function that fetches.
        public func _makeFetch() -> @Sendable (Database) throws -> Value { fetch }

        /// Returns the fetched value.
        public mutating func _value(_ fetched: Value) -> Value? { fetched }
    }

    /// A reducer that notifies transformed values.
    public struct Map<Base: _ValueReducer, Value: Sendable>: ValueReducer {
        var base: Base
        let transform: @Sendable (Base.Value) throws -> Value

        /// Returns the fetching function of the base.
        public func _makeFetch() -> @Sendable (Database) throws -> Base.Fetched { base._makeFetch() }

        /// Returns the transformed value of the base.
        public mutating func _value(_ fetched: Base.Fetched) throws -> Value? {
            try base._value(fetched).map(transform)
        }
    }

    /// A reducer that notifies values that differ from the one before.
    public struct RemoveDuplicates<Base: ValueReducer>: ValueReducer {
        var base: Base
        let isDuplicate: (Base.Value, Base.Value) -> Bool
        private var former: Base.Value?

        init(base: Base, isDuplicate: @escaping (Base.Value, Base.Value) -> Bool) {
            self.base = base
            self.isDuplicate = isDuplicate
        }

        /// Returns the fetching function of the base.
        public func _makeFetch() -> @Sendable (Database) throws -> Base.Fetched { base._makeFetch() }

        /// Returns the value of the base, unless it equals the one before.
        public mutating func _value(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base._value(fetched) else { return nil }
            if let former, isDuplicate(former, value) { return nil }
            former = value
            return value
        }
    }

    /// A reducer that calls functions at each fetch and each value.
    public struct Trace<Base: ValueReducer>: ValueReducer {
        var base: Base

        /// True if the functions are the library's own.
        var isPrint = false
        let willFetch: @Sendable () -> Void
        let didReceiveValue: @Sendable (Base.Value) -> Void

        /// Returns the fetching function of the base, after a call of the trace.
        public func _makeFetch() -> @Sendable (Database) throws -> Base.Fetched {
            let fetch = base._makeFetch()
            let willFetch = willFetch
            return { db in
                willFetch()
                return try fetch(db)
            }
        }

        /// Returns the value of the base, after a call of the trace.
        public mutating func _value(_ fetched: Base.Fetched) throws -> Base.Value? {
            guard let value = try base._value(fetched) else { return nil }
            didReceiveValue(value)
            return value
        }
    }
}

/// A reducer that may run on the connection's own thread, because it does not wait.
protocol PromptReducer {
    /// True if it runs no function of the program.
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
