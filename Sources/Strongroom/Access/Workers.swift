import Dispatch

/// The library's own threads. They run the work that must not wait for a thread of the program's.
///
/// Dispatch has a limited number of threads, and blocked accesses can use them all up. Work that is given here begins
/// immediately, on an idle thread or on a new one. A thread ends when it has been idle for some seconds.
final class Workers: Sendable {
    typealias Work = @Sendable () -> Void

    /// Work, and what the same thread goes on with, if anything. A step is released before the next one begins.
    struct Step: Sendable {
        let run: @Sendable () -> Step?
    }

    static let shared = Workers()

    /// One thread. Sendable because the place orders the assignment of work before its run.
    private final class Worker: @unchecked Sendable {
        let place = WaitingPlace()
        let semaphore = DispatchSemaphore(value: 0)
        private var qos: DispatchQoS.QoSClass
        private var step: Step?

        init(_ qos: DispatchQoS.QoSClass, _ first: Step) {
            self.qos = qos
            step = first
        }

        func give(_ qos: DispatchQoS.QoSClass, _ first: Step) {
            self.qos = qos
            step = first
            if place.end() { semaphore.signal() }
        }

        /// Runs the steps, the last one of which is released before the thread is idle: it may hold the last reference
        /// to a database.
        func work() {
            let hasQoS = qos != .default && qos != .unspecified
            if hasQoS { OwnThread.set(qos) }
            while let next = step.take() { step = next.run() }
            if hasQoS { OwnThread.set(.default) }
        }

        /// Sleeps until there is work. Returns false if there is none in time.
        func sleep(for time: DispatchTimeInterval?) -> Bool {
            if let time {
                guard semaphore.wait(timeout: .now() + time) == .success else { return false }
            } else {
                semaphore.wait()
            }
            place.wake(looksAgain: InPlaceReads.hasOtherThreads)
            return true
        }
    }

    private let idleTime: DispatchTimeInterval

    /// The idle workers. The last one was used last.
    private let idle = Mutex<[Worker]>([])

    /// - parameter idleTime: the time after which a thread without work ends.
    init(idleTime: DispatchTimeInterval = .seconds(5)) {
        self.idleTime = idleTime
    }

    /// The number of threads that wait for work.
    var idleCount: Int { idle.withLock(\.count) }

    /// Runs `work` on another thread, with a quality of service where the system has one.
    func run(qos: DispatchQoS.QoSClass = .default, _ work: @escaping Work) {
        run(
            qos: qos,
            Step {
                work()
                return nil
            })
    }

    /// Runs `first`, and the steps that follow, on another thread.
    func run(qos: DispatchQoS.QoSClass, _ first: Step) {
        if let worker = idle.withLock({ $0.popLast() }) { return worker.give(qos, first) }
        let worker = Worker(qos, first)
        // The last resort of a process that has no room for a thread.
        if !OwnThread.start({ self.serve(worker) }) { DispatchQueue.global().async { worker.work() } }
    }

    /// Runs `work` on another thread, and returns its result.
    func value<T: Sendable>(of work: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            run { continuation.resume(with: Result { try work() }) }
        }
    }

    private func serve(_ worker: Worker) {
        repeat {
            worker.work()
            idle.withLock { $0.append(worker) }
        } while hasWork(worker)
    }

    /// Waits for work. Returns false if none has come in time, and none can come later.
    private func hasWork(_ worker: Worker) -> Bool {
        if worker.place.look() || worker.sleep(for: idleTime) { return true }
        let isRemoved = idle.withLock { idle in
            guard let index = idle.firstIndex(where: { $0 === worker }) else { return false }
            idle.remove(at: index)
            return true
        }
        // Work is on its way to a worker that is no longer listed.
        return !isRemoved && worker.sleep(for: nil)
    }
}
