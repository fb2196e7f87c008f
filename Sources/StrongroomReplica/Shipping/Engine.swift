import Foundation

/// The threads of a replica: one that captures, and one that stores. The network never holds a lock of the database.
final class Engine: @unchecked Sendable {
    struct Settings: Sendable {
        /// Milliseconds between two looks at the database, when a point is due.
        var poll = 40
        /// At most, before a point is due.
        var longestPoll = 200
        /// The least time between two points, in milliseconds, unless one is asked for.
        var interval: Int64 = 1000
        /// Milliseconds between two requests that are no points: the heartbeat, and in turn a look whether another
        /// replicator has begun.
        var heartbeat: Int64 = 60_000
        /// The number of failures in sequence after which the engine gives up. Nil to go on forever.
        var attempts: Int?
        /// True to store all pages at the beginning, whether the destination has them or not.
        var beginsWithFullPoint = false
        /// Milliseconds of pause after the first failure, and at most.
        var pause: Int64 = 250, longestPause: Int64 = 2000
    }

    private let settings: Settings
    private let capture: Capture
    private let state: LocalState
    private let shipper: Shipper
    private let report: @Sendable (ReplicaEvent) -> Void

    /// Protects what follows, and wakes the threads.
    private let monitor = Monitor()
    private var isBegun = false
    private var isStopping = false
    private var failure: ReplicaError?
    private var asked = 0
    private var done = 0
    private var shipment: Spool?
    private var hasEnded = [false, false]
    private var waiters: [(ask: Int, resume: @Sendable (Result<ReplicaPosition?, ReplicaError>) -> Void)] = []
    private var newest: ReplicaPosition?

    // The capturing thread's.
    private var lastShipped: Int64?
    /// The newest request that the point on its way answers.
    private var shippedAsk = 0

    init(
        _ capture: Capture, _ state: LocalState, _ shipper: Shipper, _ settings: Settings,
        report: @escaping @Sendable (ReplicaEvent) -> Void
    ) {
        self.capture = capture
        self.state = state
        self.shipper = shipper
        self.settings = settings
        self.report = report
    }

    // MARK: From other threads

    func start() {
        for (name, work) in [("capture", captureUntilStopped), ("ship", shipUntilStopped)] {
            let thread = Thread(block: work)
            // Linux takes up to 15 bytes.
            thread.name = "replica-\(name)"
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    /// Calls `resume` when everything that is committed now is durable.
    func sync(_ resume: @escaping @Sendable (Result<ReplicaPosition?, ReplicaError>) -> Void) {
        monitor.lock()
        if let failure = failure ?? (isStopping ? Self.stopped : nil) {
            monitor.unlock()
            return resume(.failure(failure))
        }
        asked += 1
        waiters.append((asked, resume))
        monitor.broadcast()
        monitor.unlock()
    }

    /// Stores what is committed, and ends. Calls `resume` when both threads have ended.
    func stop(_ resume: @escaping @Sendable (Result<ReplicaPosition?, ReplicaError>) -> Void) {
        monitor.lock()
        isStopping = true
        asked += 1
        stopWaiters.append(resume)
        let isOver = hasEnded == [true, true]
        monitor.broadcast()
        monitor.unlock()
        if isOver { answerStop() }
    }

    private var stopWaiters: [@Sendable (Result<ReplicaPosition?, ReplicaError>) -> Void] = []

    static let stopped = ReplicaError(.stopped, nil, "the replica is stopped. Start another one.")

    // MARK: Capturing

    private func captureUntilStopped() {
        guard waitUntil({ self.isBegun }) else { return end(0) }
        capture.tree = state.tree
        capture.resumed = state.record?.log
        capture.stamp = state.record?.stamp
        if settings.beginsWithFullPoint { capture.captureAll() }
        while true {
            let ask = locked { asked }
            do {
                guard try captureOnce(ask) else { break }
            } catch let error as ReplicaError {
                report(.failing(error))
                capture.discard()
                if failures(error) { break }
                pauseBriefly(milliseconds: 1000)
            } catch {
                fail(ReplicaError(.system, nil, "\(error)"))
                break
            }
            pauseBriefly(milliseconds: untilNextLook)
        }
        capture.detach()
        end(0)
    }

    /// The time to the next look in milliseconds. Each look costs processor time, and what it finds waits until the
    /// point is due.
    private var untilNextLook: Int {
        guard capture.isCalm, let lastShipped else { return settings.poll }
        let rest = Int(lastShipped + settings.interval - steadyMilliseconds())
        return rest > settings.poll ? min(rest, settings.longestPoll) : settings.poll
    }

    private var failureCount = 0

    /// Counts a failure to capture. Returns true if the engine gives up.
    private func failures(_ error: ReplicaError) -> Bool {
        failureCount += 1
        guard let attempts = settings.attempts, failureCount >= attempts else { return locked { failure != nil } }
        fail(error)
        return true
    }

    /// Looks at the database once. Returns false when the engine has ended.
    private func captureOnce(_ ask: Int) throws -> Bool {
        let isBusy = locked { shipment != nil }
        if capture.isShipping, !isBusy {
            capture.isShipping = false
            capture.tree = state.tree
            if failed == nil, !settle(shippedAsk) { return false }
        }
        let step = try capture.step()
        if failed != nil { return false }
        let isKnown = step == .unchanged || step == .captured || step == .absent && capture.spool == nil
        guard !capture.isShipping, isKnown, step == .absent || capture.isComplete else { return true }
        failureCount = 0
        guard let spool = capture.spool, shipper.isDirty(spool) else { return settle(ask) }
        if !spool.isWhole, shipper.wantsFullPoint(Int64(spool.pageCount) * Int64(spool.pageSize)) {
            capture.captureAll()
            return true
        }
        let now = steadyMilliseconds()
        let isDue = lastShipped.map { now - $0 >= settings.interval } ?? true || locked { asked > done }
        guard isDue, let taken = try capture.take() else { return true }
        (lastShipped, shippedAsk) = (now, ask)
        capture.isShipping = true
        locked {
            shipment = taken
            monitor.broadcast()
        }
        return true
    }

    /// Everything that was committed before the request is durable. Returns false if that was the end.
    private func settle(_ ask: Int) -> Bool {
        monitor.lock()
        done = max(done, ask)
        let answered = waiters.filter { $0.ask <= ask }
        waiters.removeAll { $0.ask <= ask }
        let newest = newest, isOver = isStopping && done >= asked
        if isOver { hasDrained = true }
        monitor.broadcast()
        monitor.unlock()
        for waiter in answered { waiter.resume(.success(newest)) }
        return !isOver
    }

    private var hasDrained = false

    // MARK: Storing

    private func shipUntilStopped() {
        defer { end(1) }
        let begun: Bool? = untilItWorks { try self.shipper.begin() }
        guard let begun else { return }
        report(.started(signer: state.key.signer, continues: begun))
        locked {
            newest = state.record.map { ReplicaPosition($0.position) }
            isBegun = true
            monitor.broadcast()
        }
        var lastBeat: Int64?
        while let work = nextWork(lastBeat) {
            switch work {
            case .spool(let spool):
                guard ship(spool) else { return }
            case .beat:
                lastBeat = steadyMilliseconds()
                looks.toggle()
                // What fails is done at the next beat but one.
                if looks { _ = try? shipper.beat() } else if !isAlone() { return }
            }
        }
        _ = try? shipper.beat()
        _ = try? shipper.endClaim()
    }

    /// True after a heartbeat: the next beat looks whether another replicator has begun.
    private var looks = false

    /// Returns false if another replicator has begun, for example while the destination was down for this one.
    private func isAlone() -> Bool {
        do {
            try shipper.confirmClaim()
        } catch let error as ReplicaError where error.reason == .superseded {
            fail(error)
            return false
        } catch {
            // The destination does not answer.
        }
        return true
    }

    private enum Work {
        case spool(Spool)
        case beat
    }

    /// Waits for work. Returns nil at the end.
    private func nextWork(_ lastBeat: Int64?) -> Work? {
        monitor.lock()
        defer { monitor.unlock() }
        while true {
            if let shipment { return .spool(shipment) }
            if failure != nil || hasDrained || hasEnded[0] { return nil }
            let rest = lastBeat.map { $0 + settings.heartbeat - steadyMilliseconds() } ?? 0
            if state.record != nil, rest <= 0 { return .beat }
            monitor.wait(milliseconds: min(60_000, max(10, rest)))
        }
    }

    private func ship(_ spool: Spool) -> Bool {
        guard let prepared = untilItWorks({ try self.shipper.prepare(spool) }),
            let shipped = untilItWorks({ try self.shipper.store(prepared) })
        else { return false }
        let hadFailures = hasFailed
        hasFailed = false
        locked {
            newest = ReplicaPosition(shipped.position)
            shipment = nil
            monitor.broadcast()
        }
        report(.durable(ReplicaPoint(shipped)))
        return !hadFailures || isAlone()
    }

    /// True if the point on its way was sent several times.
    private var hasFailed = false

    /// Repeats work until it succeeds. Returns nil if it can't, or at a stop after a failure.
    private func untilItWorks<T>(_ work: () throws -> T) -> T? {
        var pause = settings.pause, count = 0
        while true {
            do {
                let result = try work()
                if count > 0 {
                    hasFailed = true
                    report(.recovered)
                }
                return result
            } catch {
                let known = error as? ReplicaError ?? ReplicaError(.system, nil, "\(error)")
                count += 1
                report(.failing(known))
                let isHopeless = !known.isTransient && count >= 3 || settings.attempts.map { count >= $0 } ?? false
                if isHopeless || locked({ isStopping && count >= 3 }) {
                    fail(known)
                    return nil
                }
                pauseBriefly(milliseconds: Int(pause))
                pause = min(pause * 2, settings.longestPause)
            }
        }
    }

    // MARK: Waiting and ending

    @discardableResult
    private func locked<T>(_ body: () -> T) -> T {
        monitor.lock()
        defer { monitor.unlock() }
        return body()
    }

    private var failed: ReplicaError? { locked { failure } }

    /// Returns false if the engine fails or stops first.
    private func waitUntil(_ condition: () -> Bool) -> Bool {
        monitor.lock()
        defer { monitor.unlock() }
        while !condition() {
            if failure != nil { return false }
            monitor.wait()
        }
        return true
    }

    /// Waits, unless something is asked for meanwhile.
    private func pauseBriefly(milliseconds: Int) {
        monitor.lock()
        defer { monitor.unlock() }
        let isUrgent = asked > done && shipment == nil && milliseconds <= settings.longestPoll
        monitor.wait(milliseconds: isUrgent ? 1 : Int64(milliseconds))
    }

    private func fail(_ error: ReplicaError) {
        monitor.lock()
        failure = failure ?? error
        let answered = waiters
        waiters = []
        monitor.broadcast()
        monitor.unlock()
        for waiter in answered { waiter.resume(.failure(error)) }
    }

    private func end(_ thread: Int) {
        let isOver = locked {
            hasEnded[thread] = true
            let isOver = hasEnded == [true, true]
            // Before a stop can be answered, after which another replicator may take the state.
            if isOver { state.release() }
            monitor.broadcast()
            return isOver
        }
        guard isOver else { return }
        report(.stopped(locked { failure }))
        answerStop()
    }

    private func answerStop() {
        let (answered, result) = locked {
            defer { stopWaiters = [] }
            return (stopWaiters, failure.map { Result.failure($0) } ?? .success(newest))
        }
        for resume in answered { resume(result) }
    }
}
