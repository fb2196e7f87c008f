import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@testable import StrongroomCLI

/// The slot that another process adds.
private final class Addition {
    private let slots: KeySlots

    init(slots: KeySlots) { self.slots = slots }

    func run() { _ = try! slots.addRecoveryCode(label: "other") }
}

@Suite("What commands say of key slots", .timeLimit(.minutes(5)))
struct KeySlotCommandTests {
    private let scratch: TemporaryFolder
    private let database: String
    private let first: String
    private let second: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = scratch.path("notes.db")
        first = try scratch.secret("first", in: "first")
        second = try scratch.secret("second", in: "second")
    }

    private func create(_ options: String...) async throws {
        let outcome = try await strongroom(["create", database, "--passphrase-file", first] + options)
        try #require(outcome.status == 0, "\(outcome.errors)")
    }

    private func createSlots() async throws { try await create("--slots", "--cost", "14") }

    // MARK: - Slots that are made, or not

    @Test("create and encrypt with --slots refuse a raw key, in both spellings, and make nothing")
    func rawKeys() async throws {
        let clear = try await scratch.clearDatabase(), digits = String(repeating: "0f", count: 32)
        let raw = try scratch.secret(digits, in: "raw"), spelled = try scratch.secret("x'\(digits)'", in: "spelled")
        let before = try scratch.names()
        for command in [["create", database, "--slots"], ["encrypt", clear, database, "--slots"]] {
            for key in [["--raw-key-file", raw], ["--passphrase-file", spelled]] {
                let outcome = try await strongroom(command + key)
                #expect(outcome.status == 1 && outcome.errors.contains("a raw key can't be the secret of a slot"))
            }
        }
        #expect(try scratch.names() == before)
    }

    @Test("The kind of a slot is that of its secret, and not of the place where it is kept")
    func kinds() async throws {
        try await createSlots()
        let random = scratch.path("random"), other = try scratch.secret("third", in: "third")
        try scratch.write([0xFF, 0xFE, 0x80, 0x00] + Array(repeating: UInt8(0x9C), count: 28), to: "random")
        try #require(chmod(random, 0o600) == 0)
        let add = ["key", "add", database, "--cost", "14", "--passphrase-file", first, "--json"]
        for (source, kind) in [
            (["--new-passphrase-file", second], "passphrase"), (["--new-passphrase-file", random], "keyFile"),
            (["--new-passphrase-command", "cat '\(other)'"], "passphrase"),
        ] {
            let outcome = try await strongroom(add + source)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect((try outcome.object["slot"] as? [String: Any])?["kind"] as? String == kind)
        }
        let again = try await strongroom(add + ["--new-passphrase-file", random])
        #expect(again.status == 1 && again.errors.contains("has this secret"), "\(again.errors)")
        #expect(try await strongroom("verify-key", database, "--passphrase-file", random).status == 0)
    }

    @Test("A recovery code gives another slot a new passphrase, and is not given up for one")
    func passwdByRecoveryCode() async throws {
        try await createSlots()
        let made = try await strongroom("key", "add", database, "--recovery-code", "--passphrase-file", first)
        let code = try scratch.secret(made.output.trimmingCharacters(in: .whitespacesAndNewlines), in: "code")
        let slots = try await strongroom("key", "list", database, "--json").object["slots"] as? [[String: Any]]
        let lost = try #require(slots?.first { $0["kind"] as? String == "passphrase" }?["id"] as? String)
        let change = ["key", "passwd", database, "--passphrase-file", code, "--new-passphrase-file", second]
        let refused = try await strongroom(change)
        #expect(refused.status == 2 && refused.errors.contains("Name the slot"), "\(refused.errors)")
        for more in [[], ["--dry-run"]] {
            let rotate = try await strongroom(["rotate"] + change[2...] + more)
            #expect(rotate.status == 2 && rotate.errors.contains("strongroom key passwd"), "\(rotate.errors)")
        }
        #expect(try await strongroom(change + [lost]).status == 0)
        for (file, status) in [(code, Int32(0)), (second, 0), (first, 12)] {
            #expect(try await strongroom("verify-key", database, "--passphrase-file", file).status == status)
        }
    }

    @Test("A recovery code that can't be printed has no slot")
    func unprintedCode() async throws {
        try await createSlots()
        for json in ["", " --json"] {
            let program = try Program(built: "strongroom").executable.path
            let outcome = try await Program(
                "sh", "-c",
                "'\(program)' key add '\(database)' --recovery-code --passphrase-file '\(first)'\(json) > /dev/full"
            ).run()
            #expect(outcome.status == 14, "\(outcome.errors)")
            #expect(outcome.errors.contains("its slot was removed again"), "\(outcome.errors)")
        }
        let slots = try await strongroom("key", "list", database, "--json").object["slots"] as? [[String: Any]]
        #expect(slots?.count == 1)
    }

    @Test(
        "A recovery code names, and withdraws, its own slot when another process adds one meanwhile",
        arguments: [false, true])
    func otherAddition(isPrinted: Bool) async throws {
        try await createSlots()
        await #expect(processExitsWith: .success) {
            [path = database as String, secret = first as String, isPrinted = isPrinted as Bool] in
            var configuration = Configuration()
            configuration.encryption = Encryption(key: .passphrase("first"))
            let queue = try DatabaseQueue(path: path, configuration: configuration), others = try queue.keySlots()
            // The renaming publishes the slot of the command. The lock of the slots is then free.
            let addition = Unmanaged.passRetained(Addition(slots: others)).toOpaque()
            strongroom_faults_after_renaming(
                { Unmanaged<Addition>.fromOpaque($0!).takeRetainedValue().run() }, addition)
            let command = try KeyAdd.parse([path, "--recovery-code", "--passphrase-file", secret, "--json"])
            let output = isPrinted ? path + "-output" : "/dev/full"
            dup2(open(output, O_WRONLY | O_CREAT, 0o600), STDOUT_FILENO)
            let isDone = (try? command.run()) != nil
            guard isDone == isPrinted else { exit(3) }
            let labels = try others.slots.map(\.label)
            guard labels.suffix(2) == (isPrinted ? ["recovery code", "other"] : labels.prefix(1) + ["other"]) else {
                exit(4)
            }
            guard isPrinted else { return }
            let text = try String(contentsOfFile: output, encoding: .utf8)
            guard text.contains(#""label":"recovery code""#) else { exit(5) }
        }
    }

    // MARK: - What is beside the database

    @Test("A missing slot file is named beside a wrong passphrase")
    func missing() async throws {
        try await createSlots()
        try FileManager.default.removeItem(atPath: database + "-keys")
        let outcome = try await strongroom("verify-key", database, "--passphrase-file", first)
        #expect(outcome.status == 12 && outcome.errors.contains(database + "-keys"), "\(outcome.errors)")
    }

    @Test("A second renewal is busy while a reader keeps the first one pending, as the dry run says")
    func pending() async throws {
        try await createSlots()
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("first"))
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: database, configuration: configuration)
        try reader.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = wal; CREATE TABLE t(a); BEGIN")
            _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
        }
        let renew = ["rotate", "--data-key", database, "--passphrase-file", first]
        let dry = try await strongroom(renew + ["--dry-run"]), real = try await strongroom(renew)
        #expect(dry.status == 15 && real.status == 15, "\(dry.errors) \(real.errors)")
        let dryAgain = try await strongroom(renew + ["--dry-run"]), again = try await strongroom(renew)
        #expect(dryAgain.status == 11 && again.status == 11, "\(dryAgain.errors) \(again.errors)")
        try reader.inDatabase { try $0.execute(sql: "ROLLBACK") }
        try reader.close()
        #expect(try await strongroom(renew).status == 0)
    }

    @Test("Dry runs of changes of slots change nothing, and predict the real run")
    func dryRuns() async throws {
        try await create()
        let slots = ["rotate", "--slots", "--cost", "14", database, "--passphrase-file", first]
        let noSlots = ["rotate", "--no-slots", database, "--passphrase-file", first]
        let renew = ["rotate", "--data-key", database, "--passphrase-file", first]
        let add = [
            "key", "add", database, "--cost", "14", "--passphrase-file", first, "--new-passphrase-file", second,
        ]
        for (line, status, outcome) in [
            (noSlots, Int32(0), "already"), (renew, 1, ""), (slots + ["--cost", "10"], 1, ""), (slots, 0, "planned"),
            (slots, 0, "already"), (renew, 0, "planned"), (add, 0, ""), (renew, 1, ""),
            (renew + ["--drop-other-slots"], 0, "planned"), (noSlots, 0, "planned"),
        ] {
            let before = try scratch.snapshot()
            if line[0] == "rotate" {
                let dry = try await strongroom(line + ["--dry-run", "--json"])
                #expect(dry.status == status, "\(line): \(dry.errors)")
                #expect(try scratch.snapshot() == before)
                if status == 0 { #expect(try dry.object["outcome"] as? String == outcome) }
                if outcome == "planned" { #expect(try dry.object["changes"] as? String == "pages") }
            }
            let real = try await strongroom(line)
            #expect(real.status == status, "\(line): \(real.errors)")
        }
    }

    // MARK: - JSON

    @Test("Each failure is one JSON object, wrong usage included")
    func json() async throws {
        try await createSlots()
        let data = scratch.path("data"), wrong = try scratch.secret("wrong", in: "wrong")
        let export = ["key", "export", database, data, "--passphrase-file", first]
        #expect(try await strongroom(export).status == 0)
        for (line, status) in [
            (["keygen", "-"], Int32(2)), (["key", "passwd", database, "--raw-key-file", data], 2),
            (["create", ":memory:", "--passphrase-file", first], 2), (["create", "", "--passphrase-file", first], 2),
            (["check", database, "--passphrase-file", ""], 2), (["rotate", "--jobs", "0", database], 2),
            (["key", "list"], 2), (["query"], 2), (["info", database, "--unknown"], 2), (["rotat"], 2),
            (["verify-key", database, database + "x", "--salt-file", first, "--passphrase-file", first], 2),
            (["verify-key", database, "--passphrase-file", wrong], 12), (["info", database + "x"], 10),
            (["keygen", data], 1), (["backup", database, data, "--passphrase-file", first], 1),
        ] {
            let outcome = try await strongroom(line + ["--json"])
            #expect(outcome.status == status, "\(line): \(outcome.errors)")
            #expect(try outcome.object["status"] as? Int == Int(status), "\(line): \(outcome.output)")
            #expect(outcome.errors.split(separator: "\n").count { $0.hasPrefix("strongroom: ") } == 1, "\(line)")
        }
    }

    @Test("The exported data key has its action in JSON, printed or not")
    func export() async throws {
        try await createSlots()
        for name in [[], [scratch.path("data")]] {
            let outcome = try await strongroom(
                ["key", "export", database] + name + ["--passphrase-file", first, "--json"])
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(try outcome.object["action"] as? String == "export")
        }
    }
}
