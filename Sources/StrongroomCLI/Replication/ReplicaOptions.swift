import ArgumentParser
import Foundation
import StrongroomReplica

extension S3Options.Style: ExpressibleByArgument {}

extension ReplicaSigner: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ReplicaRetention: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

/// The options for destinations in object storage.
struct DestinationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The URL of the S3 service. Default: AWS_ENDPOINT_URL_S3, or Amazon.", valueName: "url"))
    var s3Endpoint: String?

    @Option(help: ArgumentHelp("The region. Default: AWS_REGION, or us-east-1.", valueName: "name"))
    var s3Region: String?

    @Option(help: ArgumentHelp("Where URLs have the bucket: path or host.", valueName: "style"))
    var s3Style: S3Options.Style?

    @Option(
        help: ArgumentHelp("Certificates to trust instead of the system's.", valueName: "file"),
        completion: .file())
    var s3Ca: String?

    @Option(
        help: ArgumentHelp("Credentials, in the form of ~/.aws/credentials.", valueName: "file"),
        completion: .file())
    var s3Credentials: String?

    /// True if an option says something about object storage.
    var isGiven: Bool {
        s3Endpoint != nil || s3Region != nil || s3Style != nil || s3Ca != nil || s3Credentials != nil
    }

    var s3: S3Options {
        var options = S3Options()
        (options.endpoint, options.region, options.style) = (s3Endpoint, s3Region, s3Style)
        (options.authorities, options.credentialsFile) = (s3Ca, s3Credentials)
        return options
    }
}

/// The options for reading a replica.
struct ReplicaReadingOptions: ParsableArguments {
    @OptionGroup var place: DestinationOptions

    @Option(help: ArgumentHelp("Accept only what this key has signed: 64 digits.", valueName: "key"))
    var signer: ReplicaSigner?

    var reading: ReplicaReading { ReplicaReading(signer: signer, s3: place.s3) }
}

// MARK: - Times

/// A time in ISO 8601 with fractions, as `restore --at` takes it.
enum ReplicaTime {
    static func text(_ milliseconds: Int64) -> String {
        // Exact: a fraction that is cut off would be before the restore point.
        let seconds = Date(timeIntervalSince1970: Double(milliseconds / 1000)).formatted(.iso8601)
        let fraction = String(1000 + milliseconds % 1000).dropFirst()
        return seconds.dropLast() + "." + fraction + "Z"
    }

    /// Returns milliseconds since 1970, nil for any other text.
    static func milliseconds(_ text: String) -> Int64? {
        let styles = [true, false].map { Date.ISO8601FormatStyle(includingFractionalSeconds: $0) }
        let date = styles.lazy.compactMap { try? $0.parse(text) }.first
        return date.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) }
    }
}

/// A length of time, such as 90s, 15m, 12h or 30d.
struct ReplicaDuration: ExpressibleByArgument {
    var milliseconds: Int64

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let last = argument.last, let unit = units[last], let count = Int64(argument.dropLast()), count >= 0,
            count < 1_000_000
        else { return nil }
        milliseconds = count * unit
    }
}

/// A restore point, by time or by position.
struct RestoreArgument: ExpressibleByArgument {
    var target: RestoreTarget

    init?(argument: String) {
        if argument.allSatisfy(\.isWholeNumber), let number = UInt64(argument), number > 0 {
            target = .position(ReplicaPosition(number))
        } else if let time = ReplicaTime.milliseconds(argument) {
            target = .time(time)
        } else {
            return nil
        }
    }
}

// MARK: - Output

extension ReplicaPoint {
    var members: [(String, JSON)] {
        [
            ("position", .integer(Int64(clamping: position.number))), ("time", .text(ReplicaTime.text(milliseconds))),
            ("key_generation", .count(keyGeneration)), ("size", .count(size)),
        ]
    }
}

extension Failure {
    init(_ error: ReplicaError) {
        let status: Status =
            switch error.reason {
            case .noReplica, .noPoint: .absent
            case .damaged, .untrusted, .forked: .damaged
            case .busy, .superseded: .busy
            case .diskFull: .diskFull
            case .destinationUnavailable: .unreachable
            case .behind: .tooOld
            default: .other
            }
        let text = error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message
        self.init(status, file: error.subject, text)
    }
}

/// Runs `body`, and throws its errors as failures.
func replicating<T>(_ body: () throws -> T) throws -> T {
    do {
        return try body()
    } catch let error as ReplicaError {
        throw Failure(error)
    }
}
