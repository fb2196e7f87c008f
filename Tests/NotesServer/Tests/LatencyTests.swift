import Foundation
import Testing

/// The latency of requests, with Strongroom and with plain C in its place.
@Suite("Latency", .enabled(if: ProcessInfo.processInfo.environment["STRONGROOM_LATENCY"] != nil))
struct LatencyTests {
    private static let requests = 2000
    private static let clients = 4

    @Test("of requests beside plain C")
    func comparison() async throws { try await onThread { try compare() } }

    private func compare() throws {
        var rows: [String] = []
        var results: [String: [[Double]]] = [:]
        // In turn, so that both meet the same noise.
        for _ in 0..<3 {
            for engine in ["Strongroom", "plain C"] {
                let folder = try NotesFolder()
                let (server, port) =
                    engine == "plain C" ? try folder.startServer("plain-c") : try folder.startServer()
                results["\(engine) POST /notes", default: []].append(
                    try measure(port) { client, id in
                        try client.post("/notes", #"{"id": "\#(id)", "text": "Text"}"#).status == 201
                    })
                results["\(engine) GET /notes/ID", default: []].append(
                    try measure(port) { client, id in
                        try client.get("/notes/\(id)").status == 200
                    })
                results["\(engine) GET /health", default: []].append(
                    try measure(port) { client, _ in
                        try client.get("/health").status == 200
                    })
                server.signal(SIGTERM)
                #expect(try server.end() == 0)
            }
        }
        for request in ["POST /notes", "GET /notes/ID", "GET /health"] {
            let cells = [0.5, 0.99].flatMap { share in
                ["plain C", "Strongroom"].map { engine in
                    let values = results["\(engine) \(request)"]!.map { $0[Int(Double($0.count) * share)] }
                    return "\(Int(values.sorted()[values.count / 2])) µs"
                }
            }
            rows.append("| `\(request)` | " + cells.joined(separator: " | ") + " |")
        }
        print("| Request | median, plain C | median, Strongroom | 99 %, plain C | 99 %, Strongroom |")
        print("| --- | --- | --- | --- | --- |")
        for row in rows { print(row) }
    }

    /// Returns the durations of requests in microseconds, sorted.
    private func measure(
        _ port: Int, _ request: @escaping @Sendable (HTTPClient, String) throws -> Bool
    ) throws -> [Double] {
        let durations = Shared<[Double]>([]), ended = DispatchSemaphore(value: 0)
        for number in 0..<Self.clients {
            Thread.detachNewThread {
                defer { ended.signal() }
                guard let client = try? HTTPClient(port: port) else { return }
                var own: [Double] = []
                for count in 0..<Self.requests {
                    let start = DispatchTime.now().uptimeNanoseconds
                    guard (try? request(client, "\(number)-\(count)")) == true else { return }
                    own.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 1000)
                }
                durations.update { $0 += own }
            }
        }
        for _ in 0..<Self.clients { ended.wait() }
        #expect(durations.value.count == Self.clients * Self.requests)
        return durations.value.sorted()
    }
}
