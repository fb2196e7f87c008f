import Foundation
import TestSupport
import Testing

@Suite("Restores and copies that are not what they seem")
struct RestoreMistakeTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let key: [String]
    private var folder: String { scratch.path("copies") }

    init() async throws {
        (scratch, database, key) = try await TemporaryFolder.withDatabase("notes.db")
    }

    private func makeCopies() async throws -> (older: String, newer: String) {
        for day in ["01", "02"] {
            let time = "2026-03-\(day)T00:00:00Z"
            let made = try await strongroom(["backup", database, folder + "/", "--time", time, "--quiet"] + key)
            #expect(made.status == 0, "\(made.errors)")
        }
        return (folder + "/2026-03-01T000000Z", folder + "/2026-03-02T000000Z")
    }

    private func damage(_ path: String, at offset: UInt64) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: offset)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 16))
        try file.close()
    }

    @Test("name the damaged backup, and not the database that is as it was")
    func damagedBackup() async throws {
        let copies = try await makeCopies(), backup = copies.newer + "/notes.db"
        try damage(backup, at: 8192)
        let before = try scratch.bytes("notes.db")
        for source in [backup, folder] {
            let outcome = try await strongroom(["restore", source, database] + key)
            #expect(outcome.status == 13)
            #expect(
                outcome.errors.contains("\(backup): the backup is damaged; \(database) is as it was"),
                "\(outcome.errors)")
        }
        #expect(try scratch.bytes("notes.db") == before)
    }

    @Test("report a copy without its record, and leave it out")
    func damagedRecord() async throws {
        let copies = try await makeCopies()
        try damage(copies.newer + "/strongroom-backup", at: 40)
        for options in [[], key + ["--verify"]] {
            let outcome = try await strongroom(["backups", folder] + options)
            #expect(outcome.status == 13 && outcome.errors.contains("\(copies.newer): its record"), "\(outcome.errors)")
        }
        let restored = try await strongroom(["restore", folder, scratch.path("out.db")] + key)
        #expect(restored.status == 0 && restored.errors.contains("its record is missing or damaged"))
        let direct = try await strongroom(["restore", copies.newer, scratch.path("other.db")] + key)
        #expect(direct.status == 10 && direct.errors.contains("neither dated copies nor a replica"), "\(direct.errors)")
        let file = try await strongroom(["restore", copies.newer + "/notes.db", scratch.path("other.db")] + key)
        #expect(file.status == 0, "\(file.errors)")
    }

    @Test("find the copy damaged whose database is empty")
    func emptied() async throws {
        let copies = try await makeCopies()
        try Data().write(to: URL(fileURLWithPath: copies.older + "/notes.db"))
        let outcome = try await strongroom(["backups", folder, "--verify", "--json"] + key)
        #expect(outcome.status == 13)
        let listed = try #require(try outcome.object["backups"] as? [[String: Any]])
        #expect(listed.count == 2 && "\(listed[1])".contains("damaged"), "\(listed)")
    }

    @Test("refuse an unencrypted backup in the place of an encrypted database if a key is given")
    func clearBackup() async throws {
        let clear = scratch.path("clear.db")
        try await StockShell(path: clear).run("CREATE TABLE t (a);")
        let outcome = try await strongroom(["restore", clear, database] + key)
        #expect(
            outcome.status == 2 && outcome.errors.contains("not encrypted, and a key is given"), "\(outcome.errors)")
        #expect(try await strongroom(["verify-key", database] + key).status == 0)
    }

    @Test("find no replica in an empty folder, nor does a removal of restore points")
    func noReplica() async throws {
        let empty = scratch.path("empty")
        try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
        let restored = try await strongroom(["restore", empty, scratch.path("out.db")] + key)
        #expect(restored.status == 10 && restored.errors.contains("mounted"), "\(restored.errors)")
        for command in [["forget", "--before-rotation"], ["prune", "--keep", "1d"]] {
            for place in [empty, scratch.path("nowhere")] {
                let outcome = try await strongroom([command[0], place] + command.dropFirst())
                #expect(outcome.status == 10 && outcome.errors.contains("it has no replica"), "\(outcome.errors)")
            }
        }
    }

    @Test("need no option for the page size of a dated copy, which its record has")
    func pageSize() async throws {
        let large = scratch.path("large.db"), size = ["--page-size", "8192"]
        #expect(try await strongroom(["create", large] + size + key).status == 0)
        #expect(try await strongroom(["query", large, "CREATE TABLE t(a)", "--write"] + size + key).status == 0)
        let made = try await strongroom(
            ["backup", large, folder + "/", "--time", "2026-03-01T00:00:00Z", "--quiet"] + size + key)
        #expect(made.status == 0, "\(made.errors)")
        let copy = folder + "/2026-03-01T000000Z"
        for (number, source) in [folder, copy, copy + "/large.db"].enumerated() {
            let out = scratch.path("out\(number).db")
            let restored = try await strongroom(["restore", source, out, "--sqlcipher-version", "4"] + key)
            #expect(restored.status == 0, "\(source): \(restored.errors)")
            #expect(try await strongroom(["check", out] + size + key).status == 0)
        }
    }

    @Test("name the file that is no folder of a replica, and the folder that is no database to salvage")
    func kinds() async throws {
        let listed = try await strongroom("replicas", database)
        #expect(listed.status == 1 && listed.errors.contains("\(database): it is not a folder"), "\(listed.errors)")
        let salvaged = try await strongroom(["salvage", scratch.path, scratch.path("out.db")] + key)
        #expect(salvaged.status == 1)
        #expect(salvaged.errors.hasPrefix("strongroom: \(scratch.path): it is not a file"), "\(salvaged.errors)")
    }

    @Test("name the newer copies that are passed over, because they are not good")
    func passedOver() async throws {
        let copies = try await makeCopies(), out = scratch.path("out.db")
        #expect(truncate(copies.newer + "/notes.db", 4096) == 0)
        let restored = try await strongroom(["restore", folder, out] + key)
        #expect(restored.status == 0 && restored.errors.contains("restored from \(copies.older)"), "\(restored.errors)")
        #expect(restored.errors.contains("\(copies.newer): it is incomplete, so it is left out"), "\(restored.errors)")
    }

    @Test("remove what a killed command has left in the folder")
    func leftOvers() async throws {
        let left = scratch.path(".strongroom-0a1b2c3d")
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try scratch.write(Data(repeating: 1, count: 4096), to: ".strongroom-0a1b2c3d/database")
        let backup = try await scratch.encryptedDatabase("backup.db", rawKey: "right")
        let restored = try await strongroom(["restore", backup, scratch.path("out.db")] + key)
        #expect(restored.status == 0, "\(restored.errors)")
        #expect(try scratch.names() == ["backup.db", "notes.db", "out.db", "secret"])
    }

    @Test("end with 10 when the folder of the database does not exist")
    func missingFolder() async throws {
        let backup = try await scratch.encryptedDatabase("backup.db", rawKey: "right")
        for out in [scratch.path("nowhere/a.db"), backup + "/a.db"] {
            let outcome = try await strongroom(["restore", backup, out] + key)
            #expect(outcome.status == 10 && outcome.errors.contains("its folder does not exist"), "\(outcome.errors)")
        }
    }
}
