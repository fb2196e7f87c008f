import Foundation
import Strongroom

/// Each byte that a scenario writes, to whatever file, is searched for rows, passphrases and keys; and the core dump of
/// a process that has a database open, for its passphrase.
struct ClearText {
    let campaign: Campaign

    private var markers: [(name: String, bytes: [UInt8])] {
        [
            ("a row", Array("campaign row ".utf8)), ("a passphrase", Array("campaign passphrase ".utf8)),
            ("a key", [UInt8](repeating: 0xA1, count: 32)), ("a new key", [UInt8](repeating: 0xB2, count: 32)),
        ]
    }

    func run() throws {
        let place = Place(folder: campaign.options.folder + "/work")
        for scenario in try Scenario.named(campaign.options.scenarios) {
            campaign.run(scenario.name) { try search(scenario, place) }
        }
        campaign.run("core dump") { try searchCore() }
    }

    private func search(_ scenario: Scenario, _ place: Place) throws -> String {
        let model = Place(folder: campaign.options.folder + "/model")
        var ledger = Ledger(), size = 0
        // Everything below the root: temporary files, too.
        let changes = try Change.recorded(in: Place(folder: "/")) {
            ledger = try scenario.makeModel(model)
            try place.become(model)
            try scenario.act(place, &ledger)
        }
        for case .write(_, let offset, let bytes) in changes {
            size += bytes.count
            for marker in markers where Data(bytes).range(of: Data(marker.bytes)) != nil {
                throw Finding("\(marker.name) was written in clear text at offset \(offset)")
            }
        }
        guard size > 10_000 else { throw Finding("only \(size) bytes were seen") }
        return "scenarios without clear text"
    }

    // MARK: - Core dumps

    /// Opens a database with a passphrase from a file, and ends by a signal that dumps core.
    static func dumpCore(_ options: Options) throws {
        let folder = options.folder
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        guard FileManager.default.changeCurrentDirectoryPath(folder) else { exit(2) }
        if options.rest == ["prevented"] { try CoreDumps.prevent() }
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(contentsOf: folder + "/passphrase"))
        let queue = try DatabaseQueue(path: folder + "/db", configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
        abort()
    }

    private func searchCore() throws -> String {
        let folder = campaign.options.folder + "/core"
        try Place(folder: folder).make()
        let passphrase = (0..<24).map { _ in String(UInt8.random(in: 0...255), radix: 16) }.joined()
        let file = URL(fileURLWithPath: folder + "/passphrase")
        try Data(passphrase.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let cores = try [dumps(in: folder, []), dumps(in: folder, ["prevented"])]
        guard cores[1].isEmpty else { throw Finding("a core was dumped although that was prevented") }
        guard let core = cores[0].first else { return "no core dumps on this machine" }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: core), options: .mappedIfSafe)
        guard bytes.range(of: Data(passphrase.utf8)) == nil else { throw Finding("the passphrase is in the core dump") }
        return "core dumps without the passphrase"
    }

    private func dumps(in folder: String, _ arguments: [String]) throws -> [String] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["core", folder] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        try process.run()
        process.waitUntilExit()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("core") }
        for name in names { try FileManager.default.moveItem(atPath: folder + "/" + name, toPath: folder + "/seen") }
        return names.map { _ in folder + "/seen" }
    }
}
