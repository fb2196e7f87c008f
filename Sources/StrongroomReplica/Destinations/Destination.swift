/// An object in a destination.
struct StoredObject: Hashable, Sendable {
    var name: String
    var size: Int
}

/// A place for objects: a folder, or a bucket with a prefix. For one thread at a time.
protocol Destination: AnyObject, Sendable {
    /// The text that names it, without secrets.
    var name: String { get }

    /// The same text for the same place, however it is named.
    var identity: String { get }

    /// True if a part of the name, such as a disk, can be absent for a while.
    var canReturn: Bool { get }

    /// The number of requests that are faster together than one after the other.
    var requestsAtOnce: Int { get }

    /// Stores an object. It is durable when this returns.
    func put(_ name: String, _ bytes: [UInt8]) throws

    /// Returns an object, nil if there is none.
    func get(_ name: String) throws -> [UInt8]?

    /// Returns the objects whose name begins with `prefix` and follows `after`, by name.
    func list(_ prefix: String, after: String?) throws -> [StoredObject]

    /// Returns the parts of names between `prefix` and the next slash, by name.
    func folders(_ prefix: String) throws -> [String]

    func delete(_ names: [String]) throws

    /// Returns a destination of the same place, for another thread.
    func another() throws -> any Destination
}

extension Destination {
    var identity: String { name }
    var canReturn: Bool { false }
    var requestsAtOnce: Int { 1 }
}
