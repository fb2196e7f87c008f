import Dispatch

// Accesses to a reader: checking it out, using it, and checking it in.

extension ReaderPool {
    /// Runs `block` with a reader, on the calling thread.
    func sync<T>(_ rank: VisitorRank, _ block: (Database) throws -> T) throws -> T {
        if isAccessed { reentrancyError("a reader of \(path)") }
        let reader = try checkOut(rank)
        defer { checkIn(reader) }
        let accessPath = rank.accessPath
        return try connection(of: reader, by: accessPath).sync(by: accessPath, block)
    }

    /// Runs `block` with the reader that the calling thread has, or with another one.
    func reentrantSync<T>(_ rank: VisitorRank, _ block: (Database) throws -> T) throws -> T {
        guard isAccessed, let connection = connections.first(where: \.isAccessed) else { return try sync(rank, block) }
        return try block(connection.accessed)
    }

    /// Runs `block` with a reader later. `failure` gets the error of `block`, or of the check-out, when the reader is
    /// free.
    ///
    /// - parameter reduction: called after `block`, when the reader is free. It returns what remains to do without the
    ///   reader, which the same thread does unless it goes on with the next access.
    func async(
        _ block: @escaping @Sendable (Database) throws -> Void,
        orElse failure: @escaping @Sendable (any Error) -> Void,
        thenReducing reduction: @escaping @Sendable () -> Workers.Work? = { nil }
    ) {
        let work = ReaderWork(qos: qos) { reader in
            let result = Result { try self.connection(of: reader).sync(by: .inTurn, block) }
            let next = self.checkIn(reader, goingOnWith: self.qos)
            if case .failure(let error) = result { self.refusals.async { failure(error) } }
            guard let reduce = reduction() else { return next }
            guard let next else { return LimitedWork.reductions.step(reduce) }
            LimitedWork.reductions.run(reduce)
            return next
        } refuse: { error in
            self.refusals.async { failure(error) }
        }
        checkOut(work)
    }

    /// Checks out a reader that holds the current state of the database, and runs `block` with it later.
    ///
    /// The calling thread, which has the writer, takes the state. The reader never waits for the writer.
    func asyncInCurrentSnapshot(
        _ rank: VisitorRank, _ block: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        do {
            let reader = try checkOut(rank)
            do {
                let connection = try connection(of: reader, by: .direct)
                try connection.leavingOpen(by: .direct) { try $0.beginSnapshot() }
                let step = Workers.Step {
                    connection.sync(by: .inTurn) { $0.endSnapshot { block(.success($0)) } }
                    return self.checkIn(reader, goingOnWith: self.qos)
                }
                Workers.shared.run(qos: qos, step)
            } catch {
                checkIn(reader)
                throw error
            }
        } catch {
            refusals.async { block(.failure(error)) }
        }
    }

    /// Runs `body` as a part of the task with a reader: where the task runs, if that is possible, and else on another
    /// thread.
    func read<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value {
        if let value = try await readInPlace(body) { return value }
        return try await awaitAccess(body, schedule: async)
    }

    /// Runs the job with a reader later, with the priority of the calling task.
    func async<Value>(_ job: AccessJob<Value>) {
        let qos = job.priority == .medium ? qos : DispatchQoS.QoSClass(job.priority)
        let work = ReaderWork(qos: qos) { reader in
            // It may run the program's executor, for which no other access waits.
            self.perform(job, on: reader)?.wake()
            return nil
        } refuse: { error in
            job.fail(error)
        }
        let ticket = checkOut(work)
        if let ticket { job.onWithdrawal { self.withdraw(ticket) } }
    }

    private func perform<Value>(_ job: AccessJob<Value>, on reader: Reader) -> AccessJob<Value>? {
        defer { checkIn(reader) }
        do {
            return try connection(of: reader).sync(by: .inTurn, job.perform)
        } catch {
            job.fail(error)
            return nil
        }
    }

    // MARK: - In place

    /// Runs `body` on the calling thread with an open reader that is free. Nil if there is none, or the thread must not
    /// be kept.
    private func readInPlace<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Value? {
        // The program's own queue may have other work to wait for.
        guard target == nil, inPlace.begin(isolation) else { return nil }
        guard let reader = checkOutOpenReader() else {
            inPlace.end(after: 0)
            return nil
        }
        let start = DispatchTime.now().uptimeNanoseconds
        defer {
            checkIn(reader)
            inPlace.end(after: DispatchTime.now().uptimeNanoseconds - start)
        }
        try Task.checkCancellation()
        let connection = try connection(of: reader)
        let job = AccessJob<Value>(priority: Task.currentPriority) { _ in }
        return try await withTaskCancellationHandler {
            try connection.sync(by: .inTurn) { try job.perform(body, on: $0) }
        } onCancel: {
            job.cancel()
        }
    }
}

extension VisitorRank {
    /// The thread that has the writer doesn't enter the target queue, which may wait for the writer.
    fileprivate var accessPath: AccessPath { self == .ordinary ? .inTurn : .direct }
}
