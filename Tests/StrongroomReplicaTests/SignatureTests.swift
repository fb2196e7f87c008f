import Foundation
import Testing

@testable import StrongroomReplica

@Suite("A signature of version 4")
struct SignatureTests {
    private static let empty = Digest(of: []).description

    /// The examples of Amazon's documentation of S3.
    @Test(
        "is that of the published examples of S3",
        arguments: [
            (
                "GET", "/test.txt", [], ["range": "bytes=0-9"], "",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "PUT", "/test$file.text", [],
                ["date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
                "Welcome to Amazon S3.", "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            ),
            (
                "GET", "/", [("lifecycle", "")], [:], "",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                "GET", "/", [("prefix", "J"), ("max-keys", "2")], [:], "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, String, [(String, String)], [String: String], String, String)])
    func objects(
        method: String, path: String, query: [(String, String)], more: [String: String], body: String, expected: String
    ) throws {
        let credentials = S3Credentials(
            id: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", token: nil)
        let payload = Digest(of: Array(body.utf8)).description, time = "20130524T000000Z"
        let headers = ["host": "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": payload, "x-amz-date": time]
            .merging(more) { $1 }.map { (name: $0.key, value: $0.value) }
        let request = SignatureV4.Request(
            method: method, path: SignatureV4.encode(path, keepingSlashes: true),
            query: query.map { (name: $0.0, value: $0.1) }, headers: headers, payload: payload)
        let signature = SignatureV4(credentials: credentials, region: "us-east-1", service: "s3")
        #expect(try signature.authorization(request, time: time).hasSuffix("Signature=\(expected)"))
    }

    /// Of Amazon's test suite of signatures.
    @Test(
        "is that of the published test suite",
        arguments: [
            ("GET", [], [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            (
                "GET", [("Param2", "value2"), ("Param1", "value1")], [],
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
            (
                "GET", [], [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
                "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
            ),
            ("POST", [], [], "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ] as [(String, [(String, String)], [(String, String)], String)])
    func suite(method: String, query: [(String, String)], more: [(String, String)], expected: String) throws {
        let credentials = S3Credentials(
            id: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", token: nil)
        let time = "20150830T123600Z"
        let headers = [("Host", "example.amazonaws.com"), ("X-Amz-Date", time)] + more
        let request = SignatureV4.Request(
            method: method, path: "/", query: query.map { (name: $0.0, value: $0.1) },
            headers: headers.map { (name: $0.0, value: $0.1) }, payload: Self.empty)
        let signature = SignatureV4(credentials: credentials, region: "us-east-1", service: "service")
        #expect(try signature.authorization(request, time: time).hasSuffix("Signature=\(expected)"))
    }

    @Test("has the time in the form of ISO 8601")
    func time() {
        #expect(S3Destination.time(1_440_938_160) == "20150830T123600Z")
    }

    @Test("comes from credentials that no description contains")
    func secrecy() throws {
        let environment = ["AWS_ACCESS_KEY_ID": "public", "AWS_SECRET_ACCESS_KEY": "hidden", "AWS_SESSION_TOKEN": "t"]
        let credentials = try S3Credentials.find(S3Options(), environment)
        #expect(credentials.secret == "hidden")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] { #expect(!text.contains("hidden")) }
    }

    @Test("takes credentials from a file by the profile, and from systemd's folder")
    func files() throws {
        let scratch = try Scratch()
        let text =
            "[default]\naws_access_key_id = a\naws_secret_access_key = b\n[other]\naws_access_key_id=c\n"
            + "aws_secret_access_key=d\naws_session_token=e\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.path("aws-credentials")))
        let first = try S3Credentials.find(S3Options(), ["CREDENTIALS_DIRECTORY": scratch.folder])
        #expect([first.id, first.secret, first.token] == ["a", "b", nil])
        var options = S3Options()
        options.credentialsFile = scratch.path("aws-credentials")
        let other = try S3Credentials.find(options, ["AWS_PROFILE": "other"])
        #expect([other.id, other.secret, other.token] == ["c", "d", "e"])
        let error = #expect(throws: ReplicaError.self) { try S3Credentials.find(S3Options(), [:]) }
        #expect(error?.reason == .accessDenied)
    }
}
