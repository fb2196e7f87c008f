import Foundation

/// Options of S3 destinations. Options that are not given come from the variables that the AWS command line reads, too.
public struct S3Options: Sendable {
    /// The URL of the service. `nil`, the default, is `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, or Amazon's service.
    public var endpoint: String?
    /// The region. `nil`, the default, is `AWS_REGION`, `AWS_DEFAULT_REGION`, or `us-east-1`.
    public var region: String?
    /// The place of the bucket's name in URLs. `nil`, the default, is the path if an endpoint is given, and otherwise
    /// the host's name.
    public var style: Style?
    /// The path of a file of certificates to trust instead of those of the system. `nil`, the default, is
    /// `AWS_CA_BUNDLE`, if it is set and not empty.
    public var authorities: String?
    /// The path of a file of credentials in the form of `~/.aws/credentials`. `nil`, the default, takes the first of
    /// these: the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`), the systemd
    /// credential `aws-credentials`, `AWS_SHARED_CREDENTIALS_FILE`, and `~/.aws/credentials`. `AWS_PROFILE` names the
    /// profile in a file. Default: `default`.
    public var credentialsFile: String?
    /// The time without progress after which a request fails, in seconds. Default: 30.
    public var timeout = 30

    /// A place of the bucket's name in URLs.
    public enum Style: String, Sendable, CaseIterable {
        /// `https://HOST/BUCKET/NAME`.
        case path
        /// `https://BUCKET.HOST/NAME`.
        case host
    }

    /// Creates the default options.
    public init() {}
}

/// The keys of an account. The description contains none of them.
struct S3Credentials: Sendable, CustomStringConvertible, CustomReflectable {
    let id: String
    let secret: String
    let token: String?

    var description: String { "S3Credentials" }
    var customMirror: Mirror { Mirror(self, children: []) }

    static func find(_ options: S3Options, _ environment: [String: String]) throws -> S3Credentials {
        if let file = options.credentialsFile { return try read(file, environment) }
        if let id = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"],
            !id.isEmpty, !secret.isEmpty
        {
            let token = environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
            return S3Credentials(id: id, secret: secret, token: token)
        }
        let candidates = [
            environment["CREDENTIALS_DIRECTORY"].map { $0 + "/aws-credentials" },
            environment["AWS_SHARED_CREDENTIALS_FILE"], environment["HOME"].map { $0 + "/.aws/credentials" },
        ]
        for case let file? in candidates where Files.status(file) != nil { return try read(file, environment) }
        throw ReplicaError(
            .accessDenied, nil,
            """
            no credentials for S3 were found; nothing was sent. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
            write ~/.aws/credentials.
            """)
    }

    private static func read(_ file: String, _ environment: [String: String]) throws -> S3Credentials {
        let descriptor = try Files.open(file, O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = try bytes.withUnsafeMutableBytes { try Files.read(descriptor, $0, at: 0, file) }
        let text = String(decoding: bytes[..<count], as: UTF8.self)
        let values = profile(environment["AWS_PROFILE"] ?? "default", in: text)
        guard let id = values["aws_access_key_id"], let secret = values["aws_secret_access_key"] else {
            throw ReplicaError(
                .accessDenied, file,
                "it has no aws_access_key_id and aws_secret_access_key for the profile. Set AWS_PROFILE, or add them.")
        }
        return S3Credentials(id: id, secret: secret, token: values["aws_session_token"])
    }

    private static func profile(_ name: String, in text: String) -> [String: String] {
        var current = "default", values: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("[") {
                current = line.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces)
            } else if let equals = line.firstIndex(of: "="), current == name, !line.hasPrefix("#") {
                let key = line[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
                values[key] = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            }
        }
        return values
    }
}
