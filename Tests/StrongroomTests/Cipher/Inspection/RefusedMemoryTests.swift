import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("Memory that is refused")
struct RefusedMemoryTests {
    private static func encryption() throws -> Encryption { Encryption(key: try .rawKey([UInt8](1...32))) }

    private static func configuration() throws -> Configuration {
        var configuration = Configuration()
        configuration.encryption = try encryption()
        return configuration
    }

    private static func refuse(
        inStepsOf step: Int64, _ work: (DatabaseQueue, TemporaryFolder) throws -> Void
    ) throws {
        installRefusingAllocator()
        try refuseEachAllocation(inStepsOf: step) { _ in
            try makeDatabase()
        } work: {
            try work($0.queue, $0.folder)
        }
    }

    private static func makeDatabase() throws -> (queue: DatabaseQueue, folder: TemporaryFolder) {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration())
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        return (queue, folder)
    }

    @Test("to a backup leaves no transaction open in the source")
    func backup() async {
        await #expect(processExitsWith: .success) {
            try Self.refuse(inStepsOf: 3) { queue, folder in
                let copy = try DatabaseQueue(path: folder.path("copy.sqlite"), configuration: Self.configuration())
                try queue.backup(to: copy)
            }
        }
    }

    @Test("to a change of the header is not called a wrong key")
    func header() async {
        await #expect(processExitsWith: .success) {
            try Self.refuse(inStepsOf: 3) { queue, folder in
                try queue.close()
                try DatabaseFile.setPlaintextHeader(
                    PlaintextHeader(), path: folder.path("db.sqlite"), encryption: Self.encryption())
            }
        }
    }

    @Test("to the key of an attached new database frees nothing twice if the database is detached")
    func attached() async {
        await #expect(processExitsWith: .success) {
            try Self.refuse(inStepsOf: 1) { queue, folder in
                try queue.writeWithoutTransaction { db in
                    defer { try? db.execute(sql: "DETACH DATABASE other") }
                    try db.attach(path: folder.path("other.sqlite"), as: "other", encryption: Self.encryption())
                }
            }
        }
    }

    @Test("to the key of an attached new database leaves no schema without a key")
    func attachedWithoutKey() async {
        await #expect(processExitsWith: .success) {
            let clear = Data("kept from others".utf8)
            try Self.refuse(inStepsOf: 1) { queue, folder in
                let path = folder.path("other.sqlite")
                try queue.writeWithoutTransaction { db in
                    let outcome = Result { try db.attach(path: path, as: "other", encryption: Self.encryption()) }
                    guard case .failure(let error) = outcome else { return }
                    try? db.execute(sql: "CREATE TABLE other.t(a); INSERT INTO other.t VALUES ('kept from others')")
                    if (try? Data(contentsOf: URL(fileURLWithPath: path)))?.range(of: clear) != nil { exit(9) }
                    throw error
                }
            }
        }
    }

    @Test("to keys refuses ATTACH and VACUUM beforehand", arguments: ["ATTACH ? AS other KEY 'key'", "VACUUM INTO ?"])
    func beforehand(sql: String) async {
        await #expect(processExitsWith: .success) { [sql = sql as String] in
            installRefusingAllocator()
            let (queue, folder) = try Self.makeDatabase()
            let path = folder.path("other.sqlite")
            // Smaller allocations succeed.
            strongroom_faults_refuse_memory(0, 96 << 10, true)
            let outcome = Result {
                try queue.writeWithoutTransaction { try $0.execute(sql: sql, arguments: [path]) }
            }
            strongroom_faults_refuse_memory(-1, 0, false)
            guard case .failure(let error) = outcome, (error as? DatabaseError)?.resultCode == .SQLITE_NOMEM,
                !FileManager.default.fileExists(atPath: path)
            else { exit(8) }
        }
    }
}
