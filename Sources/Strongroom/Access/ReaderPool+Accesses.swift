import CStrongroom
import Dispatch

// Accesses to a reader, from finding it to giving it back.

extension ReaderPool {
    /// Runs `block` with a reader, on the calling thread.
    func sync<T>(_ block: (Database) throws -> T) throws -> T {
        if isAccessed { reentrancyError("a reader of \(path)") }
        let reader = try checkOut()
        defer { checkIn(reader) }
        return try connection(of: reader).sync(block)
    }

    /// Runs `block` with the reader that the calling thread has, or another one.
    func reentrantSync<T>(_ block: (Database) throws -> T) throws -> T {
        guard isAccessed, let connection = connections.first(where: \.isAccessed) else { return try sync(block) }
        return try block(connection.accessed)
    }

    /// Runs `block` with a reader later, or with the error that there is none.
    func async(_ block: @escaping @Sendable (Result<Database, any Error>) -> Void) {
        checkOut { [self] result in
            switch result {
            case .failure(let error):
                DispatchQueue.global().async { block(.failure(error)) }
            case .success(let reader):
                reader.queue.async { self.run(block, on: reader) }
            }
        }
    }

    private func run(_ block: (Result<Database, any Error>) -> Void, on reader: Reader) {
        defer { checkIn(reader, isOnQueue: true) }
        do {
            try connection(of: reader, isOnQueue: true).sync(isOnQueue: true) { block(.success($0)) }
        } catch {
            block(.failure(error))
        }
    }

    /// Runs the job with a reader later, with the priority of the calling task.
    func async<Value>(_ job: AccessJob<Value>) {
        let priority = job.priority
        if takesFastLane, let lane = FastLane() {
            if let reader = checkOutOpenReader() {
                return lane.run(priority: priority) { self.perform(job, on: reader, isOnQueue: false) }
            }
            lane.leave()
        }
        let place = checkOut { [self] result in
            switch result {
            case .failure(let error):
                job.fail(error)
            case .success(let reader):
                reader.queue.async(priority: priority) { self.perform(job, on: reader, isOnQueue: true)?.wake() }
            }
        }
        if let place { job.waits { self.withdraw(place) } }
    }

    private func perform<Value>(
        _ job: AccessJob<Value>, on reader: Reader, isOnQueue: Bool) -> AccessJob<Value>?
    {
        defer { checkIn(reader, isOnQueue: isOnQueue) }
        do {
            let connection = try connection(of: reader, isOnQueue: isOnQueue)
            return connection.sync(isOnQueue: isOnQueue, job.perform)
        } catch {
            job.fail(error)
            return nil
        }
    }
}
