import Foundation
import TestSupport
import Testing

@Suite("Replication as a service")
struct ReplicaServiceTests {
    let scratch: TemporaryFolder
    init() throws { scratch = try TemporaryFolder() }

    /// Returns the path of an encrypted database in WAL mode.
    private func database(_ name: String) async throws -> String {
        let first = try await scratch.encryptedDatabase(passphrase: "right"), path = scratch.path(name)
        try FileManager.default.moveItem(atPath: first, toPath: path)
        try await StockShell(path: path, passphrase: "right").run("PRAGMA journal_mode = wal;")
        return path
    }

    private func configuration(_ text: String) throws -> String {
        try scratch.write(Data(text.utf8), to: "replicate.json")
        return scratch.path("replicate.json")
    }

    @Test("replicates the databases of a configuration, keeps figures of each, and one that fails stops no other")
    func configured() async throws {
        let one = try await database("one.db"), two = try await database("two.db")
        try scratch.write(Data("a file".utf8), to: "occupied")
        let file = try configuration(
            """
            {"metrics": "\(scratch.path("replica.prom"))", "replicas": [
                {"database": "\(one)", "destination": "\(scratch.path("to-one"))", "interval": 50},
                {"database": "\(two)", "destination": "s3://"},
                {"database": "\(two)", "destination": "\(scratch.path("to-two"))", "state": "\(scratch.path("state"))"}
            ]}
            """)
        let replicator = try Program(built: "strongroom", "replicate", "--config", file).start()
        try await replicator.wait {
            let text = scratch.text("replica.prom")
            return text.contains("to-one\"} 1") && text.contains("to-two\"} 1")
        }
        kill(replicator.process.processIdentifier, SIGTERM)
        let outcome = await replicator.outcome()
        #expect(outcome.status == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("s3://"))
        let figures = scratch.text("replica.prom")
        #expect(figures.contains("# TYPE strongroom_replica_position gauge"))
        #expect(figures.contains("strongroom_replica_position{database=\"\(one)\",destination="))
        for name in ["to-one", "to-two"] {
            #expect(try await strongroom("verify", scratch.path(name)).status == 0)
        }
    }

    @Test("keeps figures that a collector of another user can read")
    func readable() async throws {
        let path = try await database("one.db"), figures = scratch.path("replica.prom")
        let outcome = try await strongroom("replicate", path, scratch.path("to"), "--once", "--metrics", figures)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: figures)
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        #expect(try scratch.names().filter { $0.hasPrefix("replica.prom") } == ["replica.prom"])
    }

    @Test(
        "refuses a configuration with a mistake, and names it",
        arguments: [
            ("{", "JSON object"), ("{\"replicas\": []}", "no database"), ("{}", "replicas is missing"),
            ("{\"replicas\": [{\"database\": \"a\", \"destination\": \"b\", \"intervall\": 1}]}", "intervall"),
            ("{\"replicas\": [{\"database\": 1, \"destination\": \"b\"}]}", "database has the wrong type"),
            ("{\"replicas\": [{\"database\": \"a\"}]}", "destination is missing"),
            ("{\"replicas\": [{\"database\": \"a\", \"destination\": \"b\", \"s3Style\": \"x\"}]}", "s3Style"),
        ])
    func mistakes(text: String, named: String) async throws {
        let outcome = try await strongroom("replicate", "--config", configuration(text))
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(named), "\(outcome.errors)")
    }

    @Test("notifies the manager of services when it is ready, and when it ends")
    func readiness() async throws {
        let path = try await database("one.db"), name = scratch.path("notify")
        let script = """
            import os, signal, socket, subprocess, sys
            s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.bind(sys.argv[1]); s.settimeout(20)
            p = subprocess.Popen(sys.argv[2:], env=dict(os.environ, NOTIFY_SOCKET=sys.argv[1]))
            print(s.recv(999).decode()); p.send_signal(signal.SIGTERM); print(s.recv(999).decode()); sys.exit(p.wait())
            """
        let replicator = try Program(built: "strongroom").executable.path
        let outcome = try await Program(
            "python3", "-c", script, name, replicator, "replicate", path, scratch.path("replica")
        ).run()
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("READY=1"))
        #expect(outcome.output.contains("STOPPING=1"))
    }

    @Test("has a unit that systemd accepts", .enabled(if: FileManager.default.fileExists(atPath: unitChecker)))
    func unit() async throws {
        let unit = Program.packageFolder.appendingPathComponent("scripts/package-deb.d/strongroom-replicate.service")
            .path
        // The program is not installed here.
        let text = try String(contentsOfFile: unit, encoding: .utf8)
            .replacingOccurrences(of: "/usr/bin/strongroom", with: "/bin/true")
            .replacingOccurrences(of: "Documentation=man:strongroom-replicate(1)\n", with: "")
        try scratch.write(Data(text.utf8), to: "strongroom-replicate.service")
        let outcome = try await Program(
            "systemd-analyze", "verify", scratch.path("strongroom-replicate.service")
        ).run()
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        for line in ["Type=notify", "NoNewPrivileges=yes", "ProtectSystem=full", "LoadCredential="] {
            #expect(text.contains(line))
        }
    }

    private static let unitChecker = "/usr/bin/systemd-analyze"

    @Test(
        "ends with 14 when its destination is full, and goes on when there is room", .enabled(if: SmallDisk.isAvailable)
    )
    func fullDisk() async throws {
        let path = try await database("one.db"), disk = scratch.path("disk")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let program = try Program(built: "strongroom").executable.path
        let outcome = try await SmallDisk.run(
            size: "64k", on: disk,
            """
            dd if=/dev/zero of='\(disk)/full' bs=1k 2> /dev/null
            '\(program)' replicate '\(path)' '\(disk)/replica' --once --state '\(scratch.path("state"))'; echo $?
            rm '\(disk)/full'
            '\(program)' replicate '\(path)' '\(disk)/replica' --once --state '\(scratch.path("state"))'; echo $?
            '\(program)' verify '\(disk)/replica'; echo $?
            """)
        #expect(outcome.output == "14\n0\n0\n", "\(outcome.output) \(outcome.errors)")
    }
}
