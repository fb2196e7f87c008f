import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("strongroom former-keys")
struct FormerKeysCommandTests {
    let scratch: TemporaryFolder
    private var store: FileKeyStore { FileKeyStore(path: scratch.path("key")) }

    init() throws { scratch = try TemporaryFolder() }

    func strongroom(_ arguments: String...) async throws -> Outcome {
        var program = try Program(built: "strongroom")
        program.arguments = arguments
        return try await program.run()
    }

    /// A database whose key was changed twice, with a copy from before.
    private func makeDatabaseAndCopy() throws -> (path: String, copy: String) {
        let path = scratch.path("db.sqlite"), copy = scratch.path("copy.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: store))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try queue.vacuum(into: copy)
        for _ in 0..<2 { try queue.rotateKey(to: .managed(by: store)) }
        try queue.close()
        return (path, copy)
    }

    @Test("Former-keys lists the keys, whose files open the copies, and info tells which key opens a database")
    func list() async throws {
        let (path, copy) = try makeDatabaseAndCopy()
        let outcome = try await strongroom("former-keys", "list", store.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let lines = outcome.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.count == 2 && lines.allSatisfy { $0.count == 3 && $0[1].count == 32 })
        var statuses: [Int32] = []
        for line in lines {
            statuses.append(try await strongroom("verify-key", copy, "--passphrase-file", line[2]).status)
        }
        #expect(statuses.sorted() == [0, 12])
        let current = try await strongroom("info", path, "--key-store", store.path)
        #expect(current.status == 0 && current.output.contains("the current one"), "\(current.errors)")
        let former = try await strongroom("info", copy, "--key-store", store.path, "--json").object
        #expect(former["stored_key"] as? String == "former")
        let identifier = (former["former_key"] as? [String: Any])?["identifier"] as? String
        #expect(lines.contains { $0[1] == identifier })
        #expect(try await strongroom("info", path, "--key-store", store.path, "--unlock").status == 2)
        #expect(try await strongroom("info", path, "--key-store", scratch.path("nothing")).status == 1)
    }

    @Test("Former-keys forgets one key or all of them, and nothing else")
    func forget() async throws {
        let (path, copy) = try makeDatabaseAndCopy()
        let former = try #require(try store.formerKeys())
        #expect(try await strongroom("former-keys", "forget", store.path).status == 2)
        #expect(try await strongroom("former-keys", "forget", store.path, "0123").status == 1)
        #expect(try store.formerKeys()?.count == 2)
        let one = try await strongroom("former-keys", "forget", store.path, former[0].identifier, "--json")
        #expect(one.status == 0)
        #expect((try one.object["former_keys"] as? [Any])?.count == 1)
        #expect(try store.formerKeys() == [former[1]])
        #expect(try await strongroom("former-keys", "forget", store.path, "--all").status == 0)
        #expect(try store.formerKeys() == [])
        #expect(try await strongroom("info", copy, "--key-store", store.path).status == 12)
        #expect(try await strongroom("info", path, "--key-store", store.path).status == 0)
        #expect(try await strongroom("former-keys", "list", scratch.path("nothing")).status == 10)
    }
}
