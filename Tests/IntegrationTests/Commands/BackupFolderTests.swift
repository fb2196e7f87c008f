import Foundation
import TestSupport
import Testing

@Suite("Dated copies")
struct BackupFolderTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let key: [String]
    private var folder: String { scratch.path("copies") }

    init() async throws {
        (scratch, database, key) = try await TemporaryFolder.withDatabase("notes.db")
    }

    private func backup(_ options: String...) async throws -> Outcome {
        try await strongroom(["backup", database, folder + "/"] + key + options)
    }

    private func backups(_ options: String...) async throws -> Outcome {
        try await strongroom(["backups", folder] + options)
    }

    private func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    @Test("are made in a folder that the first one creates, and open as the database does")
    func make() async throws {
        let made = try await strongroom(["backup", database, folder + "/", "--json"] + key)
        #expect(made.status == 0, "\(made.errors)")
        let path = try #require(try made.object["file"] as? String)
        #expect(path.hasPrefix(folder + "/2") && path.hasSuffix("Z/notes.db"))
        #expect(
            try await StockShell(path: path, rawKey: "right").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
        #expect(try await strongroom(["check", path] + key).status == 0)
        // The folder is there: it needs no slash.
        #expect(try await strongroom(["backup", database, folder] + key).status == 0)
        #expect(try copies().count == 2)
    }

    @Test("are forgotten by a rule, which backups shows before")
    func keep() async throws {
        for day in 1...9 {
            #expect(try await backup("--time", "2026-03-0\(day)T03:00:00Z", "--quiet").status == 0)
        }
        let shown = try await strongroom("backups", folder, "--keep", "2d,1w", "--json").object
        let marks = try #require(shown["backups"] as? [[String: Any]]).map { $0["is_forgotten"] as? Bool }
        #expect(marks == [false, false] + Array(repeating: true, count: 7))
        #expect(try copies().count == 9)
        let made = try await backup("--time", "2026-03-10T03:00:00Z", "--keep", "2d,2w", "--json")
        #expect(try made.object["forgotten"] as? [String] != nil && made.object["kept"] as? Int == 3)
        #expect(try copies() == ["2026-03-08T030000Z", "2026-03-09T030000Z", "2026-03-10T030000Z"])
    }

    @Test("are restored by the name of one, and the newest good one by the name of their folder")
    func restored() async throws {
        for day in 1...3 {
            #expect(try await backup("--time", "2026-03-0\(day)T03:00:00Z", "--quiet").status == 0)
        }
        let out = scratch.path("restored.db")
        let newest = try await strongroom(["restore", folder + "/", out, "--json"] + key)
        #expect(try newest.object["source"] as? String == folder + "/2026-03-03T030000Z/notes.db", "\(newest.errors)")
        let one = try await strongroom(["restore", folder + "/2026-03-01T030000Z", out, "--json"] + key)
        #expect(try one.object["source"] as? String == folder + "/2026-03-01T030000Z/notes.db", "\(one.errors)")
        try FileManager.default.removeItem(atPath: folder + "/2026-03-03T030000Z/notes.db")
        let good = try await strongroom(["restore", folder, out, "--json"] + key)
        #expect(try good.object["source"] as? String == folder + "/2026-03-02T030000Z/notes.db", "\(good.errors)")
        let other = try await scratch.encryptedDatabase("other.db", rawKey: "right")
        #expect(try await strongroom(["backup", other, folder + "/", "--quiet"] + key).status == 0)
        #expect(try await strongroom(["restore", folder, out] + key).status == 2)
        let words = try await strongroom(["restore", folder + "/2026-03-01T030000Z", out] + key)
        #expect(words.errors.contains("restored from \(folder)/2026-03-01T030000Z/notes.db and checked."))
    }

    @Test("are listed with age, size, format, key and last check")
    func list() async throws {
        #expect(try await backup().status == 0)
        let plain = try await backups()
        #expect(plain.status == 0, "\(plain.errors)")
        #expect(plain.output.contains("SQLCipher 4") && plain.output.contains("intact"))
        let untried = try #require(try await backups("--json").object["backups"] as? [[String: Any]])[0]
        #expect(untried["key"] is NSNull && untried["is_complete"] as? Bool == true)
        #expect(untried["source"] as? String == database && (untried["size"] as? Int ?? 0) > 4096)
        let tried = try await strongroom(["backups", folder, "--json"] + key)
        #expect(try #require(tried.object["backups"] as? [[String: Any]])[0]["key"] as? String == "current")
        let other = try scratch.rawKey("other", in: "other")
        let wrong = try await backups("--json", "--raw-key-file", other)
        #expect(try #require(wrong.object["backups"] as? [[String: Any]])[0]["key"] as? String == "unknown")
        let former = try await backups("--json", "--raw-key-file", other, "--former-raw-key-file", key[1])
        #expect(try #require(former.object["backups"] as? [[String: Any]])[0]["key"] as? String == "former")
    }

    @Test(
        "fail monitoring with 21 when the newest is too old, with 10 without one, and with 13 when one is damaged"
    )
    func monitoring() async throws {
        #expect(try await backups("--max-age", "1d").status == 10)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        #expect(try await backups("--max-age", "1d").status == 10)
        #expect(try await backup("--time", "2026-03-01T03:00:00Z").status == 0)
        let old = try await backups("--max-age", "1d", "--metrics", scratch.path("figures.prom"))
        #expect(old.status == 21 && old.errors.contains("old"))
        #expect(scratch.text("figures.prom").contains("strongroom_backup_age_seconds{folder=\"\(folder)\""))
        #expect(try await backup().status == 0)
        #expect(try await backups("--max-age", "1d").status == 0)
        let path = "copies/\(try copies()[0])/notes.db"
        try scratch.damage(path, at: 5000)
        #expect(try await backups("--max-age", "1d").status == 0)
        let found = try await backups("--verify")
        #expect(found.status == 13 && found.errors.contains("notes.db is not what was written"))
        let authenticated = try await strongroom(["backups", folder, "--verify"] + key)
        #expect(authenticated.status == 13 && authenticated.errors.contains("page 2 is not what was written"))
        #expect(try await backups("--max-age", "1d").status == 13)
        let nightly = try await backup("--verify", "--keep", "1", "--json")
        #expect(nightly.status == 13)
        #expect(try (nightly.object["damaged"] as? [String])?.count == 1)
        // The damaged one is older than the newest good one, and goes with the others.
        #expect(try copies().count == 1)
        #expect(try await backups("--max-age", "1d").status == 0)
    }

    @Test(
        "are refused options that mean nothing, and change nothing",
        arguments: [
            ["out.db", "--keep", "7d"], ["out.db", "--verify"], ["out.db", "--time", "2026-03-01T03:00:00Z"],
            ["copies/", "--force"], ["-", "--json"], ["-", "--keep", "7d"], ["copies/", "--keep", "7" + "x"],
            ["copies/", "--keep", "0d"], ["copies/", "--time", "yesterday"],
        ])
    func usage(_ words: [String]) async throws {
        let out = words[0] == "-" ? "-" : scratch.path(words[0])
        #expect(try await strongroom(["backup", database, out] + words.dropFirst() + key).status == 2)
        #expect(try scratch.names() == ["notes.db", "secret"])
    }

    @Test("are not made in a folder that can't be written or whose folder is missing, and the error names it")
    func unfitFolders() async throws {
        let missing = try await strongroom(["backup", database, scratch.path("no/copies/")] + key)
        #expect(missing.status == 1 && missing.errors.contains("no/copies"))
        #expect(try scratch.names() == ["notes.db", "secret"])
    }

    @Test("are not made on a full disk, where nothing is left", .enabled(if: SmallDisk.isAvailable))
    func fullDisk() async throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let program = try Program(built: "strongroom").executable.path
        let outcome = try await SmallDisk.run(
            size: "32k", on: folder,
            """
            '\(program)' backup '\(database)' '\(folder)/' \(key[0]) '\(key[1])'; status=$?; ls -A '\(folder)'; \
            exit $status
            """)
        #expect(outcome.status == 14, "\(outcome.errors)")
        #expect(outcome.output.isEmpty)
    }

    @Test("are a stream on standard output, which tar reads, and which is made where TMPDIR says")
    func stream() async throws {
        let program = try Program(built: "strongroom").executable.path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let outcome = try await Program(
            "sh", "-c",
            """
            TMPDIR='\(folder)' '\(program)' backup '\(database)' - \(key[0]) '\(key[1])' > '\(scratch.path("stream"))' \
            && tar -tf '\(scratch.path("stream"))' && ls -A '\(folder)'
            """
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output == "strongroom-backup\nnotes.db\n")
        let restore = "'\(program)' restore - '\(scratch.path("back.db"))' \(key[0]) '\(key[1])'"
        let back = try await Program("sh", "-c", "\(restore) < '\(scratch.path("stream"))'").run()
        #expect(back.status == 0, "\(back.errors)")
        #expect(
            try await StockShell(path: scratch.path("back.db"), rawKey: "right").run(TemporaryFolder.sampleQuery)
                == TemporaryFolder.sampleAnswer)
        let before = try scratch.names()
        let cut = try await Program("sh", "-c", "head -c 9000 '\(scratch.path("stream"))' | \(restore)").run()
        #expect(cut.status == 13 && cut.errors.contains("ends too early"), "\(cut.errors)")
        let twice = try await strongroom("restore", "-", scratch.path("back.db"), "--raw-key-file", "-")
        #expect(twice.status == 2)
        #expect(try scratch.names() == before)
        let wrong = try scratch.rawKey("other", in: "other")
        let refused = try await strongroom("backup", database, "-", "--raw-key-file", wrong)
        #expect(refused.status == 12 && refused.output.isEmpty)
    }

    @Test("are not all good for backup --verify and --keep if one has lost its record")
    func lostRecord() async throws {
        #expect(try await backup("--time", "2026-03-01T03:00:00Z").status == 0)
        let lost = folder + "/2026-03-01T030000Z"
        try FileManager.default.removeItem(atPath: lost + "/strongroom-backup")
        let words = try await backup("--keep", "1", "--verify")
        #expect(words.status == 13 && words.errors.contains("\(lost): its record is missing or damaged"))
        for options in [["--verify"], ["--keep", "9"], ["--verify", "--keep", "9"]] {
            let json = try await strongroom(["backup", database, folder, "--json"] + key + options)
            #expect(json.status == 13, "\(options) \(json.errors)")
            #expect(try json.object["unreadable"] as? [String] == ["2026-03-01T030000Z"])
        }
    }
}
