import Foundation
import StrongroomReplica

/// A database and its destination, as arguments or a configuration name them.
struct ReplicaJob: Sendable {
    /// The name of the database as it was given.
    var file: String
    var destination: String
    var options: DatabaseReplica.Options

    /// Returns a replica that has not begun.
    func replica() throws -> DatabaseReplica {
        let place = try Place(file)
        return try replicating { try DatabaseReplica(path: place.path, to: destination, options: options) }
    }
}

/// The file of `replicate --config`: databases with their destinations, as JSON.
struct ReplicaConfiguration {
    var jobs: [ReplicaJob]
    var metrics: String?

    private struct Content: Decodable {
        var replicas: [Replica]
        var metrics: String?
    }

    private struct Replica: Decodable {
        var database: String
        var destination: String
        var interval: Int?
        var state: String?
        var pageSize: Int?
        var s3Endpoint: String?
        var s3Region: String?
        var s3Style: String?
        var s3Ca: String?
        var s3Credentials: String?
    }

    private static let names: (all: Set<String>, replica: Set<String>) = (
        ["replicas", "metrics"],
        [
            "database", "destination", "interval", "state", "pageSize", "s3Endpoint", "s3Region", "s3Style", "s3Ca",
            "s3Credentials",
        ]
    )

    init(path: String, _ defaults: DatabaseReplica.Options) throws {
        guard let bytes = FileManager.default.contents(atPath: path) else { throw Failure.absent(path) }
        try Self.checkNames(bytes, path)
        let content: Content
        do {
            content = try JSONDecoder().decode(Content.self, from: bytes)
        } catch {
            throw Self.failure(path, Self.problem(error))
        }
        guard !content.replicas.isEmpty else { throw Self.failure(path, "it names no database") }
        metrics = content.metrics
        jobs = try content.replicas.map { replica in
            var options = defaults
            options.interval = replica.interval ?? defaults.interval
            options.stateFolder = replica.state
            options.pageSize = replica.pageSize ?? defaults.pageSize
            options.s3.endpoint = replica.s3Endpoint ?? defaults.s3.endpoint
            options.s3.region = replica.s3Region ?? defaults.s3.region
            options.s3.authorities = replica.s3Ca ?? defaults.s3.authorities
            options.s3.credentialsFile = replica.s3Credentials ?? defaults.s3.credentialsFile
            if let style = replica.s3Style {
                guard let known = S3Options.Style(rawValue: style) else {
                    throw Self.failure(path, "s3Style is neither path nor host")
                }
                options.s3.style = known
            }
            return ReplicaJob(file: replica.database, destination: replica.destination, options: options)
        }
    }

    /// Refuses misspelled names, which would be ignored otherwise.
    private static func checkNames(_ bytes: Data, _ path: String) throws {
        guard let object = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any] else {
            throw failure(path, "it is not a JSON object")
        }
        let replicas = object["replicas"] as? [[String: Any]] ?? []
        let unknown = Set(object.keys).subtracting(names.all)
            .union(replicas.reduce(into: Set()) { $0.formUnion(Set($1.keys).subtracting(names.replica)) })
        if let name = unknown.min() { throw failure(path, "\(name) is no member of it") }
    }

    private static func problem(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .keyNotFound(let key, _): "\(key.stringValue) is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "\(context.codingPath.last?.stringValue ?? "a value") has the wrong type"
        default: "it is not JSON"
        }
    }

    private static func failure(_ path: String, _ problem: String) -> Failure {
        Failure(
            .usage, file: path, "it is no configuration: \(problem); nothing was begun",
            remedy: "See the article Replication")
    }
}
