import Foundation

/// A type that returns the dates of transactions.
public protocol TransactionClock: Sendable {
    func now(_ db: Database) throws -> Date
}

/// The system's clock.
public struct DefaultTransactionClock: TransactionClock {
    /// Returns the system's date.
    public func now(_ db: Database) throws -> Date { Date() }
}

/// A clock that is a function.
public struct CustomTransactionClock: TransactionClock {
    private let clock: @Sendable (Database) throws -> Date

    /// Creates a clock that calls a function.
    public init(_ now: @escaping @Sendable (Database) throws -> Date) {
        clock = now
    }

    /// Returns the date that the function returns.
    public func now(_ db: Database) throws -> Date { try clock(db) }
}

extension TransactionClock where Self == DefaultTransactionClock {
    /// The system's clock.
    public static var `default`: DefaultTransactionClock { DefaultTransactionClock() }
}

extension TransactionClock where Self == CustomTransactionClock {
    /// Returns a clock that calls a function.
    public static func custom(_ now: @escaping @Sendable (Database) throws -> Date) -> Self {
        CustomTransactionClock(now)
    }
}
