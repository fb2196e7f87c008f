import CStrongroom
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
    func async(
        _ block: @escaping @Sendable (Database) throws -> Void,
        orElse failure: @escaping @Sendable (any Error) -> Void)
    {
        checkOut { [self] result in
            switch result {
            case .failure(let error):
                DispatchQueue.global().async { failure(error) }
            case .success(let reader):
                reader.queue.async { self.run(block, orElse: failure, on: reader) }
            }
        }
    }

    private func run(
        _ block: (Database) throws -> Void, orElse failure: @escaping @Sendable (any Error) -> Void, on reader: Reader)
    {
        do {
            defer { checkIn(reader) }
            try connection(of: reader, by: .onQueue).sync(by: .onQueue, block)
        } catch {
            // Not on the reader's queue: the function may block for a read.
            DispatchQueue.global().async { failure(error) }
        }
    }

    /// Checks out a reader that holds the current state of the database, and runs `block` with it later.
    ///
    /// The calling thread, which has the writer, takes the state. The reader never waits for the writer.
    func asyncInCurrentSnapshot(
        _ rank: VisitorRank, _ block: @escaping @Sendable (Result<Database, any Error>) -> Void)
    {
        do {
            let reader = try checkOut(rank)
            do {
                let connection = try connection(of: reader, by: .direct)
                try connection.leavingOpen(by: .direct) { try $0.beginSnapshot() }
                reader.queue.async {
                    connection.sync(by: .onQueue) { $0.endSnapshot { block(.success($0)) } }
                    self.checkIn(reader)
                }
            } catch {
                checkIn(reader)
                throw error
            }
        } catch {
            DispatchQueue.global().async { block(.failure(error)) }
        }
    }

    /// Runs the job with a reader later, with the priority of the calling task.
    func async<Value>(_ job: AccessJob<Value>) {
        let priority = job.priority
        // The application's own queue may have other work to wait for.
        if target == nil, lane.enter() {
            if let reader = checkOutOpenReader() {
                return lane.run(priority: priority) { self.perform(job, on: reader, by: .queue) }
            }
            lane.leave()
        }
        let ticket = checkOut { [self] result in
            switch result {
            case .failure(let error):
                job.fail(error)
            case .success(let reader):
                reader.queue.async(priority: priority) { self.perform(job, on: reader, by: .onQueue)?.wake() }
            }
        }
        if let ticket { job.onWithdrawal { self.withdraw(ticket) } }
    }

    private func perform<Value>(
        _ job: AccessJob<Value>, on reader: Reader, by path: AccessPath) -> AccessJob<Value>?
    {
        defer { checkIn(reader) }
        do {
            return try connection(of: reader, by: path).sync(by: path, job.perform)
        } catch {
            job.fail(error)
            return nil
        }
    }
}

extension VisitorRank {
    /// The thread that has the writer doesn't enter the reader's queue, which may wait for the writer, as may its
    /// target.
    fileprivate var accessPath: AccessPath { self == .ordinary ? .queue : .direct }
}
