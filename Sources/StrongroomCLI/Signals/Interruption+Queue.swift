import Foundation
import Strongroom

extension Interruption {
    /// Runs `body`, and interrupts `queue` from a signal on until `body` returns. The interrupted work is rolled back.
    ///
    /// A thread waits for the signal or for the end, whichever comes first.
    func interrupting<T>(_ queue: DatabaseQueue, _ body: () throws -> T) throws -> T {
        let ends = try Self.newPipe()
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [descriptor, end = ends[0]] in
            var watched = [descriptor, end].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            while watched[1].revents == 0 {
                guard poll(&watched, 2, -1) > 0, watched[1].revents == 0 else { continue }
                // Again and again: an interruption reaches only what runs at that moment.
                queue.interrupt()
                _ = poll(&watched[1], 1, 50)
            }
            finished.signal()
        }
        defer {
            close(ends[1])
            finished.wait()
            close(ends[0])
        }
        return try body()
    }
}
