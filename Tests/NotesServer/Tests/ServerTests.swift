import Foundation
import Notes
import Strongroom
import Testing

/// The server as a process, with clients over the loopback interface.
@Suite("The server", .serialized)
struct ServerTests {
    private let folder: NotesFolder

    init() throws { folder = try NotesFolder() }

    private func json(_ id: String) -> String { #"{"id": "\#(id)", "text": "Text of \#(id)"}"# }

    /// The ids in the database, read by this process from the files.
    private func storedNotes() throws -> Set<String> {
        let pool = try NotesDatabase.open(
            path: folder.database, NotesDatabase.configuration(path: folder.database))
        defer { try? pool.close() }
        #expect(try pool.checkIntegrity().isIntact)
        return try pool.read { db in Set(try String.fetchAll(db, sql: "SELECT id FROM note")) }
    }

    @Test("stores and returns notes, and reports its health")
    func requests() async throws { try await onThread { try requestsOnThread() } }

    private func requestsOnThread() throws {
        let (server, port) = try folder.startServer()
        let client = try HTTPClient(port: port)
        #expect(try client.post("/notes", json("a")).status == 201)
        let answer = try client.get("/notes/a")
        #expect(answer.status == 200 && answer.body.contains("Text of a"))
        #expect(try client.get("/notes/b").status == 404)
        #expect(try client.get("/health").body == "ready\n")
        #expect(try client.get("/statistics").body.contains("commits "))
        server.signal(SIGTERM)
        #expect(try server.end() == 0)
        // The shutdown has emptied the log, which is kept for other processes.
        let log = try FileManager.default.attributesOfItem(atPath: folder.database + "-wal")[.size] as? Int
        #expect(log == 0)
        #expect(try storedNotes() == ["a"])
    }

    @Test("takes the key from a systemd credential")
    func credential() async throws { try await onThread { try credentialOnThread() } }

    private func credentialOnThread() throws {
        let credentials = folder.path + "/credentials"
        try FileManager.default.createDirectory(atPath: credentials, withIntermediateDirectories: true)
        let key = "x'" + String(repeating: "2a", count: 32) + "'"
        let isCreated = FileManager.default.createFile(
            atPath: credentials + "/notes", contents: Data(key.utf8), attributes: [.posixPermissions: 0o400])
        #expect(isCreated)
        let (server, port) = try folder.startServer(environment: ["CREDENTIALS_DIRECTORY": credentials])
        #expect(try HTTPClient(port: port).post("/notes", json("a")).status == 201)
        server.signal(SIGTERM)
        #expect(try server.end() == 0)
        #expect(!FileManager.default.fileExists(atPath: folder.database + ".key"))
    }

    @Test("sends the commits of a worker process as events, and ends the stream at a stop")
    func events() async throws { try await onThread { try eventsOnThread() } }

    private func eventsOnThread() throws {
        let (server, port) = try folder.startServer()
        let worker = try RunningProgram("NotesWorker", [folder.database, "worker", "20"])
        let counts = Shared<[Int]>([])
        try HTTPClient(port: port).events("/events") { data in
            counts.update { $0.append(Int(data) ?? -1) }
            return counts.value.last ?? 0 < 5
        }
        let values = counts.value
        #expect(values == values.sorted() && values.last ?? 0 >= 5)
        // A stream that is open does not keep the server from stopping.
        let stream = try HTTPClient(port: port)
        let hasEnded = Shared(false)
        let thread = Thread {
            try? stream.events("/events") { _ in true }
            hasEnded.update { $0 = true }
        }
        thread.start()
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0)
        server.signal(SIGTERM)
        #expect(try server.end(within: 15) == 0)
        let written = worker.lines.value
        #expect(try Set(written).isSubset(of: storedNotes()) && !written.isEmpty)
        while !hasEnded.value { Thread.sleep(forTimeInterval: 0.001) }
    }

    @Test("loses no acknowledged write in kills, stops and restarts under load, beside a worker")
    func kills() async throws { try await onThread { try killsOnThread() } }

    private func killsOnThread() throws {
        let rounds = 8, clients = 4
        let acknowledged = Shared<Set<String>>([]), port = Shared(0), isOver = Shared(false)
        let worker = try RunningProgram("NotesWorker", [folder.database, "worker", "5"])
        _ = try worker.awaitLine("worker-1")
        let threads = (0..<clients).map { number in
            Load(number) { id in
                let client = try HTTPClient(port: port.value, timeout: 10)
                return { try client.post("/notes", #"{"id": "\#(id())", "text": "Text"}"#).status }
            }
        }
        for thread in threads { thread.start(acknowledged, isOver) }
        var generator = SplitMix(state: 38)
        for round in 0..<rounds {
            let (server, new) = try folder.startServer()
            port.update { $0 = new }
            let former = acknowledged.value.count
            let end = Date().addingTimeInterval(30)
            let wanted = former + 50 + Int(generator.next() % 100)
            while acknowledged.value.count < wanted, Date() < end { Thread.sleep(forTimeInterval: 0.002) }
            #expect(acknowledged.value.count >= wanted, "no progress in round \(round)")
            let isKill = round % 2 == 0
            server.signal(isKill ? SIGKILL : SIGTERM)
            #expect(try server.end(within: 20) == (isKill ? nil : 0))
        }
        isOver.update { $0 = true }
        for thread in threads { thread.join() }
        worker.signal(SIGTERM)
        #expect(try worker.end() == 0)
        let stored = try storedNotes()
        let lost = acknowledged.value.union(worker.lines.value).subtracting(stored)
        #expect(lost.isEmpty, "lost: \(lost.sorted().prefix(5))")
        print("acknowledged \(acknowledged.value.count), by the worker \(worker.lines.value.count)")
    }
}

/// A client that sends notes until it is over, and connects again after failures.
private final class Load: @unchecked Sendable {
    private let number: Int
    private let connect: (@escaping () -> String) throws -> () throws -> Int
    private let hasEnded = DispatchSemaphore(value: 0)
    private var count = 0

    init(_ number: Int, _ connect: @escaping (@escaping () -> String) throws -> () throws -> Int) {
        self.number = number
        self.connect = connect
    }

    private var id: String { "client-\(number)-\(count)" }

    func start(_ acknowledged: Shared<Set<String>>, _ isOver: Shared<Bool>) {
        Thread.detachNewThread { [self] in
            while !isOver.value {
                do {
                    let send = try connect { [unowned self] in id }
                    while !isOver.value {
                        // The same id again after a failure: it may be committed, and was not acknowledged.
                        guard try send() == 201 else { break }
                        acknowledged.update { _ = $0.insert(id) }
                        count += 1
                    }
                } catch { Thread.sleep(forTimeInterval: 0.005) }
            }
            hasEnded.signal()
        }
    }

    func join() { hasEnded.wait() }
}

/// Random numbers that a seed decides.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
