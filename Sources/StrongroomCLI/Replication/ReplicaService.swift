import Foundation
import StrongroomReplica

/// Replicas that run until a signal, or until everything is durable.
final class ReplicaService: @unchecked Sendable {
    private let jobs: [ReplicaJob]
    private let show: @Sendable (ReplicaEvent, ReplicaJob) -> Void
    /// True if a replica that fails begins again after a pause.
    private let isPersistent: Bool
    private let metrics: ReplicaMetrics?

    /// Protects what follows.
    private let lock = NSLock()
    private var replicas: [Int: DatabaseReplica] = [:]
    private var readyCount = 0
    private var isStopping = false
    private(set) var positions: [Int: ReplicaPosition] = [:]
    private(set) var failures: [Int: Failure] = [:]

    /// Seconds before a replica that failed begins again.
    private static let pause = 30

    init(
        _ jobs: [ReplicaJob], isPersistent: Bool, metrics: ReplicaMetrics?,
        show: @escaping @Sendable (ReplicaEvent, ReplicaJob) -> Void
    ) {
        (self.jobs, self.isPersistent, self.metrics, self.show) = (jobs, isPersistent, metrics, show)
    }

    /// Runs until `isOver` returns true, or all replicas have ended, and stores what is committed then.
    func run(_ isOver: () -> Bool) {
        let ended = DispatchGroup()
        for index in jobs.indices {
            ended.enter()
            Task {
                await follow(index)
                ended.leave()
            }
        }
        var ticks = 0
        while !isOver(), ended.wait(timeout: .now() + 0.1) == .timedOut {
            ticks += 1
            if ticks % 50 == 0 { metrics?.write() }
        }
        ServiceManager.notify("STOPPING=1")
        stop()
        ended.wait()
        metrics?.write()
    }

    private func stop() {
        let running = lock.withLock {
            isStopping = true
            return replicas
        }
        for replica in running.values { Task { _ = try? await replica.stop() } }
    }

    private func follow(_ index: Int) async {
        while true {
            let failure = await runOnce(index)
            lock.withLock { failures[index] = failure }
            guard let failure, isPersistent, !lock.withLock({ isStopping }) else { return }
            Console.warning("\(failure) It begins again in \(Self.pause) seconds.")
            for _ in 0..<Self.pause * 10 where !lock.withLock({ isStopping }) {
                try? await Task.sleep(nanoseconds: 100_000_000)
            }
            if lock.withLock({ isStopping }) { return }
        }
    }

    private func runOnce(_ index: Int) async -> Failure? {
        let job = jobs[index], replica: DatabaseReplica
        do {
            replica = try job.replica()
        } catch {
            return Failure(any: error, file: job.file)
        }
        let isLate = lock.withLock {
            replicas[index] = replica
            return isStopping
        }
        replica.start()
        if isLate { Task { _ = try? await replica.stop() } }
        var failure: Failure?
        for await event in replica.events {
            note(event, index)
            show(event, job)
            if case .stopped(let error?) = event { failure = Failure(error) }
        }
        // It has ended, and answers immediately.
        let last = try? await replica.stop()
        lock.withLock {
            replicas[index] = nil
            positions[index] = last ?? positions[index]
        }
        return failure
    }

    private func note(_ event: ReplicaEvent, _ index: Int) {
        metrics?.note(event, jobs[index])
        switch event {
        case .started:
            let isReady = lock.withLock {
                readyCount += 1
                return readyCount == jobs.count
            }
            // Their destinations were found.
            if isReady { ServiceManager.notify("READY=1\nSTATUS=\(counted(jobs.count, "database")) replicated") }
        case .durable(let point): lock.withLock { positions[index] = point.position }
        default: break
        }
    }
}

/// Messages to systemd, or to another manager of services that set `NOTIFY_SOCKET`.
/// <https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html>
enum ServiceManager {
    static func notify(_ text: String) {
        guard let name = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"], !name.isEmpty else { return }
        // SOCK_DGRAM, whose type differs between platforms.
        let descriptor = socket(AF_UNIX, 2, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // A name that begins with @ is not in the file system: its first byte is zero.
        let bytes = name.hasPrefix("@") ? [0] + Array(name.utf8.dropFirst()) : Array(name.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size - room + bytes.count)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                text.withCString { sendto(descriptor, $0, strlen($0), 0, address, size) }
            }
        }
    }
}
