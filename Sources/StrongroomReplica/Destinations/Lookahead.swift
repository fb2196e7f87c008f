import Foundation

/// Reads objects before they are needed, by several requests simultaneously, where a destination gains by that.
final class Lookahead: @unchecked Sendable {
    private enum State {
        case waiting
        case running
        case ended(Result<[UInt8]?, any Error>)
    }

    private let destination: any Destination
    /// Protects what follows.
    private let monitor = NSCondition()
    /// Names that no request was made for, the next one at the end.
    private var queue: [String] = []
    private var states: [String: State] = [:]
    /// The number of objects that are being read, or were read and not used.
    private var heldCount = 0
    private var threadCount = 0
    private var isOver = false

    init(_ destination: any Destination) { self.destination = destination }

    /// Begins to read objects that will be asked for in this order. With `next`, before all others.
    func expect(_ names: [String], next: Bool = false) {
        guard destination.requestsAtOnce > 1 else { return }
        monitor.lock()
        defer { monitor.unlock() }
        let new = names.filter { states[$0] == nil }
        for name in new { states[name] = .waiting }
        queue.insert(contentsOf: new.reversed(), at: next ? queue.endIndex : 0)
        while threadCount < min(destination.requestsAtOnce, states.count), let place = try? destination.another() {
            threadCount += 1
            let thread = Thread { self.work(place) }
            thread.name = "replica-read"
            thread.stackSize = 1 << 20
            thread.start()
        }
        monitor.broadcast()
    }

    /// Returns an object. One that no request was made for is read on this thread.
    func object(_ name: String) throws -> [UInt8] {
        guard let bytes = try take(name) ?? destination.get(name) else {
            throw ReplicaError.damaged(name, "the object is missing")
        }
        return bytes
    }

    private func take(_ name: String) throws -> [UInt8]? {
        monitor.lock()
        defer { monitor.unlock() }
        while true {
            switch states[name] {
            case nil: return nil
            case .waiting:
                states[name] = nil
                return nil
            case .running: monitor.wait()
            case .ended(let result):
                states[name] = nil
                heldCount -= 1
                monitor.broadcast()
                return try result.get()
            }
        }
    }

    /// Ends the threads, each after its request.
    func end() {
        monitor.lock()
        isOver = true
        monitor.broadcast()
        monitor.unlock()
    }

    private func work(_ place: any Destination) {
        while let name = next() {
            let result = Result { try place.get(name) }
            monitor.lock()
            states[name] = .ended(result)
            monitor.broadcast()
            monitor.unlock()
        }
    }

    /// Waits for a name to read. Returns nil at the end.
    private func next() -> String? {
        monitor.lock()
        defer { monitor.unlock() }
        while !isOver {
            while let name = queue.last, heldCount < destination.requestsAtOnce {
                queue.removeLast()
                // The others were read by the thread that needs them.
                guard case .waiting = states[name] else { continue }
                states[name] = .running
                heldCount += 1
                return name
            }
            monitor.wait()
        }
        return nil
    }
}
