import Foundation
import TestSupport
import Testing

@Suite("Dated copies, some of which are unfit")
struct BackupClockTests {
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

    private func copies() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    private static let future = "2099-01-01T000000Z"

    private func makeFuture() async throws {
        #expect(try await backup("--time", "2099-01-01T00:00:00Z", "--quiet").status == 0)
    }

    // MARK: - A clock that was wrong

    @Test("of the future don't take the place of the one just made, and are reported")
    func keep() async throws {
        try await makeFuture()
        let made = try await backup("--keep", "1", "--json")
        #expect(made.status == 0)
        #expect(FileManager.default.fileExists(atPath: try #require(made.object["file"] as? String)))
        #expect(try made.object["forgotten"] as? [String] == [])
        #expect(try made.object["future"] as? [String] == [folder + "/" + Self.future + "/notes.db"])
        #expect(made.errors.contains("in the future"))
    }

    @Test("don't lose the one just made, whatever its date is")
    func old() async throws {
        #expect(try await backup("--time", "2026-03-02T00:00:00Z", "--quiet").status == 0)
        #expect(try await backup("--time", "2026-03-01T00:00:00Z", "--keep", "1", "--quiet").status == 0)
        #expect(try copies() == ["2026-03-01T000000Z", "2026-03-02T000000Z"])
    }

    @Test("of the future are not fresh: monitoring fails, and says why")
    func monitoring() async throws {
        try await makeFuture()
        let figures = scratch.path("figures.prom")
        let only = try await strongroom("backups", folder, "--max-age", "1d", "--metrics", figures)
        #expect(only.status == 21 && only.errors.contains("in the future"), "\(only.errors)")
        #expect(scratch.text("figures.prom").contains("strongroom_backup_future_copies{folder=\"\(folder)\"} 1"))
        let listed = try await strongroom("backups", folder, "--json")
        let copy = try #require(listed.object["backups"] as? [[String: Any]])[0]
        #expect(listed.status == 0 && copy["is_future"] as? Bool == true)
        #expect(copy["age_seconds"] as? Double ?? 0 < -1e6)
        #expect(try await backup("--time", "2026-03-01T00:00:00Z", "--quiet").status == 0)
        #expect(try await strongroom("backups", folder, "--max-age", "1d").status == 21)
        #expect(try await backup("--quiet").status == 0)
        #expect(try await strongroom("backups", folder, "--max-age", "1d").status == 0)
    }

    @Test("of the future are restored by their name, or if there is no other")
    func restore() async throws {
        try await makeFuture()
        let out = scratch.path("restored.db"), future = folder + "/" + Self.future
        let only = try await strongroom(["restore", folder, out, "--json"] + key)
        #expect(try only.object["source"] as? String == future + "/notes.db")
        #expect(only.errors.contains("in the future"))
        #expect(try await backup("--time", "2026-03-01T00:00:00Z", "--quiet").status == 0)
        let newest = try await strongroom(["restore", folder, out, "--json"] + key)
        #expect(try newest.object["source"] as? String == folder + "/2026-03-01T000000Z/notes.db")
        #expect(newest.errors.contains(future))
        let named = try await strongroom(["restore", future, out, "--json"] + key)
        #expect(try named.object["source"] as? String == future + "/notes.db")
    }

    // MARK: - A copy that has lost a file

    @Test("of which one has lost its database are listed, checked and forgotten like others")
    func incomplete() async throws {
        for day in 1...3 {
            #expect(try await backup("--time", "2026-03-0\(day)T03:00:00Z", "--quiet").status == 0)
        }
        try FileManager.default.removeItem(atPath: folder + "/2026-03-02T030000Z/notes.db")
        let listed = try await strongroom(["backups", folder, "--json"] + key)
        #expect(listed.status == 13)
        let found = try #require(listed.object["backups"] as? [[String: Any]])
        #expect(found.map { $0["is_complete"] as? Bool } == [true, false, true])
        #expect(found.map { $0["key"] as? String } == ["current", nil, "current"])
        let checked = try await strongroom(["backups", folder, "--verify", "--json"] + key)
        #expect(checked.status == 13)
        let outcomes = try #require(checked.object["backups"] as? [[String: Any]]).map {
            ($0["last_check"] as? [String: Any])?["outcome"] as? String
        }
        #expect(outcomes == ["intact", "damaged", "intact"])
        let nightly = try await backup("--time", "2026-03-04T03:00:00Z", "--verify", "--keep", "2", "--json")
        #expect(nightly.status == 13, "\(nightly.errors)")
        let lost = folder + "/2026-03-02T030000Z/notes.db"
        #expect(try nightly.object["damaged"] as? [String] == [lost] && nightly.object["checked"] as? Int == 4)
        #expect(try copies() == ["2026-03-03T030000Z", "2026-03-04T030000Z"])
    }

    @Test("of which one has lost its salt are listed with the keys of the others")
    func salt() async throws {
        let other = scratch.path("header.db")
        let made = try await strongroom(["create", other, "--plaintext-header"] + key)
        #expect(made.status == 0, "\(made.errors)")
        for day in 1...2 {
            let time = ["--time", "2026-03-0\(day)T03:00:00Z"]
            #expect(try await strongroom(["backup", other, folder + "/"] + key + time).status == 0)
        }
        try scratch.damage("copies/2026-03-02T030000Z/header.db-salt", at: 30)
        let listed = try await strongroom(["backups", folder, "--json"] + key)
        #expect(listed.status == 13)
        let found = try #require(listed.object["backups"] as? [[String: Any]], "\(listed.errors)")
        #expect(found.map { $0["key"] as? String } == ["unknown", "current"])
    }
}
