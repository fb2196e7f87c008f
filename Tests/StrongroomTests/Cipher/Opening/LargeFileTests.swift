import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A database above 4 GiB")
struct LargeFileTests {
    @Test("has its pages where 32 bits don't reach", arguments: [512, 4096, 65536])
    func offsets(pageSize: Int) throws {
        let settings = CipherSettings(pageSize: pageSize, kdfIterations: 1000)
        let key = try Keyring().derivedKey(for: .random(), salt: .random(), settings: settings)
        let format = try PageFormat(key, header: 0)
        #expect(format.offset(of: 1) == 0)
        let number = 0x1_4000_0000 / pageSize + 1  // at 5 GiB
        #expect(format.offset(of: number) == 0x1_4000_0000)
        #expect(format.offset(of: format.lockBytePage) == 0x4000_0000)
    }

    @Test("is read there through its connection")
    func read() throws {
        let folder = try TemporaryFolder(), path = folder.path("clear.sqlite")
        try DatabaseQueue(path: path).inDatabase { try $0.execute(sql: "CREATE TABLE t(a)") }
        // Before it, the file is a hole.
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: 0x1_4000_0000)
        try file.write(contentsOf: [UInt8](repeating: 7, count: 4096))
        try file.close()
        try DatabaseQueue(path: path).inDatabase { db in
            let size = try db.fileSize()
            #expect(size == 0x1_4000_1000)
            let page = try PageReader(db, pageSize: 4096, fileSize: size).withPage(0x14_0001) { Array($0) }
            #expect(page == [UInt8](repeating: 7, count: 4096))
        }
    }

    /// Writes 4.4 GB: `scripts/campaign large` asks for it.
    @Test(
        "is checked without false alarm, and a damaged page there is found",
        .enabled(if: ProcessInfo.processInfo.environment["STRONGROOM_LARGE"] != nil), .timeLimit(.minutes(30)))
    func check() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = try Encryption(key: .random(), settings: CipherSettings(pageSize: 65536))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for _ in 0..<70 { try db.execute(sql: "INSERT INTO t(b) VALUES (zeroblob(62000000))") }
        }
        #expect(try DatabaseFile.inspect(path: path).size > 0x1_0000_0000)
        let intact = try queue.checkIntegrity()
        #expect(intact.isIntact, "\(intact.unauthenticPages?.prefix(5) ?? []) \(intact.structureProblems.prefix(5))")
        try queue.close()
        try flip(path, at: 0x1_0000_0000 + 100)
        let damaged = try DatabaseQueue(path: path, configuration: configuration).checkIntegrity()
        #expect(damaged.unauthenticPages == [0x1_0001])
    }
}
