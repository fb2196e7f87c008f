import Foundation
import TestSupport
import Testing

@Suite("Secrets and names of strongroom key")
struct KeyNameTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let first: String, second: String, third: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = scratch.path("notes.db")
        first = try scratch.secret("first", in: "first")
        second = try scratch.secret("second", in: "second")
        third = try scratch.secret("third", in: "third")
        let create = ["create", database, "--slots", "--cost", "14", "--label", "mine", "--passphrase-file", first]
        try #require(try await strongroom(create).status == 0)
        let add = ["key", "add", database, "--cost", "14", "--label", "ours", "--passphrase-file", first]
        try #require(try await strongroom(add + ["--new-passphrase-file", second]).status == 0)
    }

    private var slots: [[String: Any]] {
        get async throws {
            try #require(try await strongroom("key", "list", database, "--json").object["slots"] as? [[String: Any]])
        }
    }

    @Test("strongroom key passwd and rotate refuse the secret of another slot, and the dry run predicts it")
    func takenSecret() async throws {
        let before = try scratch.bytes("notes.db-keys"), keys = ["--passphrase-file", first, "--new-passphrase-file"]
        for command in [["key", "passwd", database], ["rotate", database, "--dry-run"], ["rotate", database]] {
            let outcome = try await strongroom(command + keys + [second])
            #expect(outcome.status == 1 && outcome.errors.contains("(ours) has this secret"), "\(outcome.errors)")
        }
        #expect(try scratch.bytes("notes.db-keys") == before)
        // The secret that the slot has already is no other slot's.
        let same = try await strongroom(["key", "passwd", database, "ours"] + keys + [second])
        #expect(same.status == 0, "\(same.errors)")
        let dry = try await strongroom(["rotate", database, "--dry-run"] + keys + [third])
        #expect(dry.status == 0, "\(dry.errors)")
    }

    @Test("strongroom key offers the slots with a label that several have, and all for one that none has")
    func ambiguous() async throws {
        let add = ["key", "add", database, "--cost", "14", "--label", "ours", "--passphrase-file", first]
        #expect(try await strongroom(add + ["--new-passphrase-file", third]).status == 0)
        let ids = try await slots.compactMap { $0["id"] as? String }, own = ["--passphrase-file", first]
        try #require(ids.count == 3)
        let several = try await strongroom(["key", "remove", database, "ours"] + own)
        #expect(several.status == 1 && several.errors.contains("ame one of \(ids[1]), \(ids[2])."), "\(several.errors)")
        let none = try await strongroom(["key", "remove", database, "theirs"] + own)
        #expect(none.errors.contains("ame one of \(ids.joined(separator: ", "))."), "\(none.errors)")
    }

    @Test("A slot to try first that does not exist is wrong usage")
    func unknownHint() async throws {
        for command in [["verify-key", database], ["check", database], ["key", "list", database]] {
            let unknown = try await strongroom(command + ["--key-hint", "nosuch", "--passphrase-file", first])
            #expect(unknown.status == 2 && unknown.errors.contains("no key slot has the name nosuch"))
            let known = try await strongroom(command + ["--key-hint", "ours", "--passphrase-file", first])
            #expect(known.status == 0, "\(known.errors)")
        }
    }

    @Test("strongroom key says that the slot file may be missing, and that its copy is")
    func missingFiles() async throws {
        let copy = scratch.path("nosuch.keys")
        let restore = try await strongroom("key", "restore", database, copy, "--force", "--passphrase-file", first)
        #expect(restore.status == 10 && restore.errors.contains("\(copy): there is no such file"), "\(restore.errors)")
        try FileManager.default.removeItem(atPath: database + "-keys")
        let list = try await strongroom("key", "list", database)
        #expect(list.status == 1 && list.errors.contains("its slot file \(database)-keys is missing"), "\(list.errors)")
        #expect(list.errors.contains("put that file back") && list.errors.contains("rotate --slots"))
    }

    @Test("strongroom rotate --slots and --no-slots once more find that all is done, and exclude each other")
    func again() async throws {
        let both = try await strongroom("rotate", database, "--slots", "--no-slots", "--passphrase-file", first)
        #expect(both.status == 2, "\(both.errors)")
        let before = try scratch.snapshot()
        for more in [[], ["--dry-run"], ["--new-passphrase-file", second]] {
            let done = try await strongroom(["rotate", database, "--slots", "--passphrase-file", first] + more)
            #expect(done.status == 0 && done.errors.contains("it has key slots already"), "\(done.errors)")
        }
        let wrong = try await strongroom(
            "rotate", database, "--slots", "--passphrase-file", first, "--new-passphrase-file", third)
        #expect(wrong.status == 12, "\(wrong.errors)")
        #expect(try await strongroom("rotate", database, "--slots", "--passphrase-file", third).status == 12)
        #expect(try scratch.snapshot() == before)
        for outcome in ["rotated", "already"] {
            let removed = try await strongroom(
                "rotate", database, "--no-slots", "--passphrase-file", first, "--json")
            #expect(removed.status == 0, "\(removed.errors)")
            #expect(try removed.object["outcome"] as? String == outcome)
        }
    }
}
