import Foundation
import TestSupport
import Testing

@Suite("A check of a part of a database")
struct CheckPartCommandTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let key: [String]

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase("notes.db", rawKey: "right")
        key = ["--raw-key-file", try scratch.rawKey("right")]
    }

    private func check(_ options: String..., of files: [String]? = nil) async throws -> Outcome {
        try await strongroom(["check"] + (files ?? [database]) + key + options)
    }

    @Test("takes all pages the first time, and then those that were written since")
    func sinceLast() async throws {
        let state = scratch.path("state")
        let first = try await check("--since-last", state, "--json").object
        let pages = try #require(first["pages"] as? Int)
        #expect(pages > 5 && first["checked_pages"] as? Int == pages)
        #expect(try await check("--since-last", state, "--json").object["checked_pages"] as? Int == 1)
        try await StockShell(path: database, rawKey: "right").run("UPDATE author SET name = 'x' WHERE id = 1;")
        let changed = try #require(try await check("--since-last", state, "--json").object["checked_pages"] as? Int)
        #expect((2...4).contains(changed))
        let plain = try await check("--since-last", state)
        #expect(plain.output.contains("\(pages) pages, 1 checked"))
        let mode = try FileManager.default.attributesOfItem(atPath: state)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("keeps the states of several databases in one file, each with a status of its own")
    func several() async throws {
        let state = scratch.path("state")
        try scratch.copy("notes.db", to: "other.db")
        let files = [database, scratch.path("other.db")]
        #expect(try await check("--since-last", state, "--quiet", of: files).status == 0)
        try scratch.damage("other.db", at: 9000)
        let unnoticed = try await check("--since-last", state, "--json", of: files)
        #expect(unnoticed.status == 0)
        let outcome = try await check("--since-last", state, "--sample", "100%", "--json", of: files)
        #expect(outcome.status == 13)
        let reports = try #require(try outcome.object["files"] as? [[String: Any]])
        #expect(reports.map { $0["status"] as? Int } == [0, 13])
        #expect(reports[0]["checked_pages"] as? Int == reports[0]["pages"] as? Int)
        // It stays a finding.
        #expect(try await check("--since-last", state, of: files).status == 13)
    }

    @Test("distinguishes names that differ only in the normalization of Unicode")
    func normalization() async throws {
        let names = ["\u{E9}.db", "e\u{301}.db"], state = scratch.path("state")
        var files: [String] = []
        for name in names { files.append(try await scratch.encryptedDatabase(name, rawKey: "right")) }
        #expect(try await check("--since-last", state, "--quiet", of: files).status == 0)
        for file in files {
            #expect(
                try await check("--since-last", state, "--json", of: [file]).object["checked_pages"] as? Int == 1)
        }
    }

    @Test("prints its seed, which chooses the same pages again")
    func seed() async throws {
        let first = try await check("--sample", "30%", "--json").object
        let seed = try #require(first["seed"] as? Int), count = try #require(first["checked_pages"] as? Int)
        let again = try await check("--sample", "30%", "--seed", "\(seed)", "--json").object
        #expect(again["checked_pages"] as? Int == count)
    }

    @Test("writes figures for Prometheus, as a whole, also when a database is damaged")
    func metrics() async throws {
        let figures = scratch.path("notes.prom")
        #expect(try await check("--metrics", figures).status == 0)
        #expect(scratch.text("notes.prom").contains("strongroom_check_status{file=\"\(database)\"} 0\n"))
        try scratch.damage("notes.db", at: 9000)
        #expect(try await check("--metrics", figures).status == 13)
        let text = scratch.text("notes.prom")
        #expect(text.contains("strongroom_check_status{file=\"\(database)\"} 13\n"))
        #expect(text.contains("strongroom_check_damaged_pages{file=\"\(database)\"} 1\n"))
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            #expect(line.wholeMatch(of: /[a-z_]+\{file="[^"]*"\} [0-9.e+-]+/) != nil, "\(line)")
        }
        #expect(try scratch.names() == ["notes.db", "notes.prom", "secret"])
        let unwritable = try await check("--metrics", scratch.path("none/notes.prom"))
        #expect(unwritable.status == 10)
    }

    @Test(
        "refuses options that make no sense",
        arguments: [["--seed", "1"], ["--sample", "0%"], ["--sample", "101%"], ["--sample", "few"]])
    func usage(options: [String]) async throws {
        #expect(try await strongroom(["check", database] + key + options).status == 2)
    }

    @Test("refuses a file that is not the state of a check, and leaves it")
    func otherState() async throws {
        for text in ["text", "Strongroom check state 1\n9 9 x", "Strongroom check state 1\n99999999999 1 x\n"] {
            try scratch.write(Data(text.utf8), to: "state")
            let outcome = try await check("--since-last", scratch.path("state"))
            #expect(outcome.status == 1 && outcome.errors.contains("not the state of a check"))
            #expect(scratch.text("state") == text)
        }
    }
}
