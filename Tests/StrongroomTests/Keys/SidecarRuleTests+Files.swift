import CStrongroomFaults
import Foundation
import Testing

@testable import Strongroom

extension SidecarRuleTests {
    // MARK: - Names

    @Test("is not named after a path that is not UTF-8: the database is refused")
    func notUTF8() throws {
        try SidecarDatabase.create(path, .plaintext)
        for (name, link) in [("\u{1}\u{2}", "one"), ("\u{1}\u{3}", "two")] {
            let bytes = Array((folder.path + "/" + name).utf8).map { $0 < 4 ? 0xfc + $0 : $0 } + [0]
            #expect(
                bytes.withUnsafeBytes { target in
                    rename(path, target.baseAddress!.assumingMemoryBound(to: CChar.self)) == 0
                        && symlink(target.baseAddress!.assumingMemoryBound(to: CChar.self), folder.path(link)) == 0
                })
            let error = #expect(throws: DatabaseError.self) {
                try SidecarDatabase.create(folder.path(link), .plaintext)
            }
            #expect(error?.resultCode == .SQLITE_CANTOPEN && error?.message?.contains("not UTF-8") == true)
            #expect(try DatabaseFile.inspect(path: folder.path(link)).kind == .plaintextHeader)
            try SidecarDatabase.create(path, .plaintext)
        }
    }

    // MARK: - Regular files only

    enum Impostor: CaseIterable {
        case link, danglingLink, folder, pipe, device

        func make(_ name: String) throws {
            switch self {
            case .link:
                try Data("Strongroom salt 1\n".utf8).write(to: URL(fileURLWithPath: name + ".target"))
                try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: name + ".target")
            case .danglingLink:
                try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: name + ".nowhere")
            case .folder: try FileManager.default.createDirectory(atPath: name, withIntermediateDirectories: false)
            case .pipe: try #require(mkfifo(name, 0o600) == 0)
            case .device: try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: "/dev/zero")
            }
        }
    }

    @Test(
        "that is no regular file is an error immediately, and stays", .timeLimit(.minutes(1)),
        arguments: SaltFile.Role.allCases, Impostor.allCases)
    func impostor(_ role: SaltFile.Role, _ impostor: Impostor) throws {
        try impostor.make(file(role))
        let before = try names(), salt = SaltFile(salt: try .random(), header: 32)
        let uses = [
            { _ = try SaltFile.read(role, of: path) }, { try salt.write(role, of: path) },
            { _ = try salt.agree(role, of: path) },
        ]
        for use in uses {
            let error = #expect(throws: DatabaseError.self) { try use() }
            #expect(error?.resultCode == .SQLITE_CANTOPEN)
            #expect(error?.message?.contains("\(file(role)): it is not a regular file") == true)
            #expect(error?.reason == .unfitSaltFile && error?.recoverySuggestion == "move it away")
        }
        try SaltFile.remove(role, of: path)
        #expect(try names() == before)
    }

    @Test(
        "that is no regular file keeps a database from being created", .timeLimit(.minutes(1)),
        arguments: [SaltFile.Role.permanent, .creation], Impostor.allCases)
    func impostorAtCreation(_ role: SaltFile.Role, _ impostor: Impostor) throws {
        try impostor.make(file(role))
        let before = try names()
        let error = #expect(throws: DatabaseError.self) { try SidecarDatabase.create(path, .plaintext) }
        #expect(error?.message?.contains("regular file") == true)
        #expect(try names().filter { $0 != "db.sqlite" } == before)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
        _ = try DatabaseFile.inspect(path: path)
    }

    @Test(
        "that is no regular file where a rotation would have its salt is an error immediately", .timeLimit(.minutes(1)),
        arguments: Impostor.allCases)
    func impostorAtRotation(_ impostor: Impostor) throws {
        try SidecarDatabase.create(path, .plaintext)
        try impostor.make(file(.rotation))
        for readonly in [true, false] {
            let error = #expect(throws: DatabaseError.self) {
                try SidecarDatabase.read(path, .plaintext, readonly: readonly)
            }
            #expect(
                error?.message?.contains("\(file(.rotation)): it is not a regular file") == true,
                "\(readonly) \(String(describing: error))")
        }
        #expect(try DatabaseFile.inspect(path: path).isRotationPending)
    }

    @Test("A pipe is not a database, and opening it does not block", .timeLimit(.minutes(1)))
    func pipe() throws {
        try #require(mkfifo(path, 0o600) == 0)
        #expect(try DatabaseFile.inspect(path: path).kind == .notDatabase)
    }

    // MARK: - Whole or not at all

    @Test("that a killed process left incomplete is written again", arguments: SaltFile.Role.allCases)
    func halfWritten(_ role: SaltFile.Role) throws {
        try SaltFile(salt: .random(), header: 32).write(role, of: path)
        let text = try Data(contentsOf: URL(fileURLWithPath: file(role)))
        for count in 0..<text.count - 1 {
            for rest in [Data(), Data(count: 7)] {
                try (text.prefix(count) + rest).write(to: URL(fileURLWithPath: file(role)))
                let salt = SaltFile(salt: try .random(), header: 32)
                // A database that relies on a salt file would be lost with it; none relies on the others before they
                // are whole.
                if role == .permanent {
                    #expect(throws: DatabaseError.self) { try SaltFile.read(role, of: path) }
                } else {
                    #expect(try SaltFile.read(role, of: path) == nil, "\(count)")
                }
                #expect(try salt.agree(role, of: path) == salt, "\(count)")
                #expect(try SaltFile.readAll(role, of: path) == [salt])
            }
        }
        #expect(try names() == ["db.sqlite" + role.rawValue])
    }

    @Test("to which a killed process was adding a salt has the one before", arguments: SaltFile.Role.allCases)
    func halfExtended(_ role: SaltFile.Role) throws {
        let first = SaltFile(salt: try .random(), header: 32), second = SaltFile(salt: try .random(), header: 48)
        try first.write(role, of: path)
        let whole = try Data(contentsOf: URL(fileURLWithPath: file(role))).count
        try second.write(role, of: path)
        let text = try Data(contentsOf: URL(fileURLWithPath: file(role)))
        for count in whole..<text.count - 1 {
            try text.prefix(count).write(to: URL(fileURLWithPath: file(role)))
            #expect(try SaltFile.readAll(role, of: path) == [first], "\(count)")
            try second.write(role, of: path)
            #expect(try SaltFile.readAll(role, of: path) == [second, first], "\(count)")
        }
    }

    @Test("that another process is writing is waited for", .timeLimit(.minutes(1)))
    func slowWriter() throws {
        let salt = SaltFile(salt: try .random(), header: 32)
        try salt.write(.creation, of: path)
        let text = try Data(contentsOf: URL(fileURLWithPath: file(.creation)))
        try text.prefix(30).write(to: URL(fileURLWithPath: file(.creation)))
        let descriptor = open(file(.creation), O_RDWR)
        try #require(flock(descriptor, LOCK_EX) == 0)
        Thread.detachNewThread {
            // The reader may come before or after: it finds the whole file either way.
            _ = text.withUnsafeBytes { pwrite(descriptor, $0.baseAddress!, $0.count, 0) }
            close(descriptor)
        }
        #expect(try SaltFile(salt: .random(), header: 32).agree(.creation, of: path) == salt)
    }

    @Test("whose writer is stopped is busy, after a few seconds", .timeLimit(.minutes(1)))
    func stoppedWriter() throws {
        try Data("Strongroom".utf8).write(to: URL(fileURLWithPath: file(.creation)))
        let descriptor = open(file(.creation), O_RDWR)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        let error = #expect(throws: DatabaseError.self) {
            try SaltFile(salt: .random(), header: 32).agree(.creation, of: path)
        }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file(.creation))) == Data("Strongroom".utf8))
    }

    @Test("is the same for all processes that create a database at the same time", arguments: 0..<20)
    func agreement(_ round: Int) throws {
        if round % 2 == 1 { try Data("Strongroom sa".utf8).write(to: URL(fileURLWithPath: file(.creation))) }
        let salts = try (0..<8).map { _ in SaltFile(salt: try .random(), header: 32) }, path = path
        let agreed = Shared<Set<SaltFile>>([])
        DispatchQueue.concurrentPerform(iterations: 8) { index in
            if let salt = try? salts[index].agree(.creation, of: path) {
                agreed.update { $0.formUnion([salt]) }
            } else {
                Issue.record("no agreement")
            }
        }
        #expect(agreed.value.count == 1)
        #expect(try SaltFile.readAll(.creation, of: path) == Array(agreed.value))
    }

    @Test(
        "needs no hard links, nor does a copy that gets its name",
        .enabled(if: strongroom_faults_refused_names() >= 0), arguments: [false, true])
    func withoutLinks(isTaken: Bool) throws {
        try SidecarDatabase.create(path, .plaintext)
        let copy = folder.path("copy.sqlite"), before = strongroom_faults_refused_names()
        strongroom_faults_refuse_names(true)
        defer { strongroom_faults_refuse_names(false) }
        try SidecarDatabase.create(folder.path("other.sqlite"), .plaintext)
        #expect(strongroom_faults_refused_names() == before)
        var progress: (EncryptionProgress) throws -> Void = { _ in }
        if isTaken { progress = { _ in try Data("other".utf8).write(to: URL(fileURLWithPath: copy)) } }
        let result = Result {
            try DatabaseFile.migrate(path: path, to: copy, from: .plaintext, as: .plaintext, progress: progress)
        }
        #expect(strongroom_faults_refused_names() == before + 2)
        if isTaken {
            #expect(throws: DatabaseError.self) { try result.get() }
            #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == Data("other".utf8))
            #expect(!FileManager.default.fileExists(atPath: copy + "-salt"))
        } else {
            try result.get()
            #expect(try SidecarDatabase.read(copy, .plaintext) == 7)
        }
        #expect(try names().allSatisfy { !$0.contains("partial") })
    }

    // MARK: - Names

    @Test("fits beside a database with a name of 245 bytes, which is created, opened and rotated")
    func longName() throws {
        let path = folder.path(String(repeating: "n", count: 245))
        try SidecarDatabase.create(path, .plaintext)
        var configuration = Configuration()
        configuration.encryption = .plaintext
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.rotateKey(to: .rawKey(Data(repeating: 2, count: 32)))
        try queue.close()
        #expect(try SidecarDatabase.read(path, Encryption(key: .rawKey(Data(repeating: 2, count: 32)))) == 7)
    }

    @Test("that would have too long a name is refused before anything is written", arguments: [246, 247, 250, 255])
    func tooLongName(_ count: Int) throws {
        let path = folder.path(String(repeating: "n", count: count))
        for encryption in [Encryption.plaintext, Encryption(key: try .random())] {
            let error = #expect(throws: DatabaseError.self) { try SidecarDatabase.create(path, encryption) }
            #expect(error?.resultCode == .SQLITE_CANTOPEN)
            #expect(error?.reason == .nameTooLong && error?.recoverySuggestion == "use 245 bytes at most, not \(count)")
            #expect(try names() == [])
        }
    }

    @Test("that would have too long a name keeps the key from being changed, and nothing has changed")
    func tooLongNameForRotation() throws {
        let short = folder.path("short"), path = folder.path(String(repeating: "n", count: 247))
        let encryption = Encryption(key: try .random())
        try SidecarDatabase.create(short, encryption)
        try FileManager.default.moveItem(atPath: short, toPath: path)
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .random()) }
        #expect(error?.reason == .nameTooLong)
        try queue.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try names() == [String(repeating: "n", count: 247)])
    }

    // MARK: - Symbolic links

    @Test("of a database behind symbolic links is beside the database itself", arguments: [true, false])
    func symbolicLinks(isRelative: Bool) throws {
        try FileManager.default.createDirectory(atPath: folder.path("real"), withIntermediateDirectories: false)
        let real = folder.path("real/db.sqlite"), first = folder.path("first"), second = folder.path("second")
        try FileManager.default.createSymbolicLink(
            atPath: first, withDestinationPath: isRelative ? "real/db.sqlite" : real)
        try FileManager.default.createSymbolicLink(atPath: second, withDestinationPath: isRelative ? "first" : first)
        try SidecarDatabase.create(second, .plaintext)
        #expect(try names() == ["first", "real", "second"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("real")).sorted() == [
                "db.sqlite", "db.sqlite-salt",
            ])
        try SaltFile(salt: .random(), header: 32).write(.rotation, of: real)
        let salt = try SaltFile.read(.permanent, of: real)?.salt.bytes
        for path in [real, first, second] {
            let inspection = try DatabaseFile.inspect(path: path)
            #expect(inspection.kind == .plaintextHeader && inspection.hasSaltFile && inspection.isRotationPending)
            #expect(inspection.salt == salt)
        }
        #expect(try SidecarDatabase.read(second, .plaintext) == 7)
        #expect(try DatabaseFile.inspect(path: second).isRotationPending == false)
    }
}

extension Encryption {
    /// Without a derivation; with a readable header.
    static let plaintext = Encryption(
        key: try! .rawKey(Data(repeating: 1, count: 32)), plaintextHeader: PlaintextHeader())
}

/// Databases with one row.
enum SidecarDatabase {
    static func create(_ path: String, _ encryption: Encryption) throws {
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
    }

    static func read(_ path: String, _ encryption: Encryption, readonly: Bool = false) throws -> Int? {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.readonly = readonly
        return try DatabaseQueue(path: path, configuration: configuration).read {
            try Int.fetchOne($0, sql: "SELECT a FROM t")
        }
    }
}
