import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A key store by a command", .timeLimit(.minutes(1)))
struct CommandKeyStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A program that runs these lines, with the verb as `$1` and the entry as `$2`.
    private func program(_ lines: String) throws -> String {
        let path = folder.path("store")
        try Data("#!/bin/sh\n\(lines)\n".utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o700) == 0)
        return path
    }

    private func store(_ lines: String, timeout: Double = 30) throws -> CommandKeyStore {
        CommandKeyStore([try program(lines)], timeout: timeout)
    }

    /// Keeps keys as files, and answers as the documentation says.
    private var honest: CommandKeyStore { get throws { try honest(first: "true") } }

    /// - parameter first: a command that ends with an error for what the program refuses.
    private func honest(first: String) throws -> CommandKeyStore {
        try store(
            """
            cd '\(folder.path)' && echo "$*" >> calls
            \(first) || exit 3
            case $1 in
            load) [ -e "$2" ] || exit 44; cat "$2" ;;
            store) [ -e "$2" ] && exit 45; cat > "$2" ;;
            remove) [ -e "$2" ] || exit 44; rm "$2" ;;
            list) ls ;;
            esac
            """)
    }

    @Test("makes, loads and changes a key, which is no argument")
    func works() throws {
        let store = try honest, path = folder.path("db.sqlite")
        #expect(try addRow(path, .managed(by: store)) == 1)
        let text = try String(contentsOfFile: folder.path("current"), encoding: .utf8)
        #expect(text.count == 68 && text.hasPrefix("x'") && text.hasSuffix("'\n"))
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store))
        try queue.close()
        #expect(try String(contentsOfFile: folder.path("current"), encoding: .utf8) != text)
        #expect(!FileManager.default.fileExists(atPath: folder.path("next")))
        #expect(try addRow(path, .managed(by: store)) == 2)
        let former = try #require(try store.formerKeys())
        #expect(former.count == 1)
        #expect(try String(contentsOfFile: folder.path(former[0].name), encoding: .utf8) == text)
        let calls = try String(contentsOfFile: folder.path("calls"), encoding: .utf8)
        #expect(!calls.contains("x'"))
        #expect(throws: KeyStoreError.exists) { try store.store(.random(), as: .current) }
        #expect(throws: KeyStoreError.absent) { try store.remove(.next) }
    }

    @Test("has the key of one database: the second is refused while the first exists, and the first one opens")
    func twoDatabases() throws {
        let store = try honest, first = folder.path("first.sqlite"), second = folder.path("second.sqlite")
        try addRow(first, .managed(by: store))
        #expect(try store.databasePath() == first)
        let error = #expect(throws: DatabaseError.self) { try addRow(second, .managed(by: store)) }
        #expect(error?.reason == .foreignKeyStore && error?.message?.contains("first.sqlite") == true)
        #expect(error?.recoverySuggestion?.contains("a store of its own") == true)
        try FileManager.default.removeItem(atPath: second)
        try FileManager.default.moveItem(atPath: first, toPath: folder.path("moved.sqlite"))
        #expect(try addRow(second, .managed(by: store)) == 1)
        #expect(try store.databasePath() == second)
        #expect(try addRow(folder.path("moved.sqlite"), .managed(by: store)) == 2)
    }

    @Test("whose program refuses the name of the path makes a key, and changes it")
    func noPath() throws {
        let store = try honest(first: #"[ "$2" != database ]"#), path = folder.path("db.sqlite")
        #expect(try addRow(path, .managed(by: store)) == 1)
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store))
        try queue.close()
        #expect(try addRow(path, .managed(by: store)) == 2)
        #expect(try addRow(folder.path("second.sqlite"), .managed(by: store)) == 1)
    }

    @Test("whose program does not list its keys has failed: a rotation is refused unless it discards the former key")
    func noList() throws {
        let store = try store(
            """
            cd '\(folder.path)'
            case $1 in
            load) [ -e "$2" ] || exit 44; cat "$2" ;;
            store) [ -e "$2" ] && exit 45; cat > "$2" ;;
            remove) [ -e "$2" ] || exit 44; rm "$2" ;;
            *) exit 2 ;;
            esac
            """)
        let path = folder.path("db.sqlite")
        #expect(try addRow(path, .managed(by: store)) == 1)
        let before = try String(contentsOfFile: folder.path("current"), encoding: .utf8)
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .managed(by: store)) }
        #expect(error?.reason == .keyStoreFailed)
        #expect(try String(contentsOfFile: folder.path("current"), encoding: .utf8) == before)
        try queue.rotateKey(to: .managed(by: store, formerKeys: .discard))
        try queue.close()
        #expect(try String(contentsOfFile: folder.path("current"), encoding: .utf8) != before)
        #expect(try addRow(path, .managed(by: store)) == 2)
    }

    @Test("works in a process that ignores the end of its children", arguments: [false, true])
    func ignoredChildren(byFlag: Bool) async throws {
        let program = try program(
            """
            cd '\(folder.path)' && case $1 in
            load) [ -e "$2" ] || exit 44; cat "$2" ;;
            store) [ -e "$2" ] && exit 45; cat > "$2" ;;
            remove) [ -e "$2" ] || exit 44; rm "$2" ;;
            esac
            """)
        await #expect(processExitsWith: .success) { [program = program as String, byFlag = byFlag as Bool] in
            var action = sigaction()
            action.sa_flags = byFlag ? Int32(SA_NOCLDWAIT) : 0
            if !byFlag { signal(SIGCHLD, SIG_IGN) } else { sigaction(SIGCHLD, &action, nil) }
            let store = CommandKeyStore([program], timeout: 30), key = try DatabaseKey.random()
            do {
                _ = try store.load(.current)
                exit(3)
            } catch KeyStoreError.absent {}
            try store.store(key, as: .current)
            guard try store.load(.current).hasSameBytes(as: key) else { exit(4) }
            do {
                try store.store(key, as: .current)
                exit(5)
            } catch KeyStoreError.exists {}
            try store.remove(.current)
            do {
                _ = try CommandKeyStore(["/nowhere/at/all"], timeout: 30).load(.current)
                exit(6)
            } catch {}
            do {
                _ = try CommandKeyStore(["/bin/sh", "-c", "exec sleep 60"], timeout: 0.2).load(.current)
                exit(7)
            } catch {}
            exit(EXIT_SUCCESS)
        }
    }

    @Test("distinguishes absent, locked and failed by the exit status")
    func statuses() throws {
        func answer(_ lines: String) throws -> KeyStoreError? {
            let store = try store(lines)
            return #expect(throws: KeyStoreError.self) { try store.load(.current) }
        }
        #expect(try answer("exit 44") == .absent)
        #expect(try answer("exit 45") == .exists)
        guard case .locked? = try answer("exit 36") else { return #expect(Bool(false), "36 is locked") }
        let failures = [
            "exit 1", "exit 2", "exit 127", "kill -9 $$", "exit 0", "echo correct horse", "yes | head -c 100000",
        ]
        for lines in failures {
            guard case .failed? = try answer(lines) else { return #expect(Bool(false), "\(lines)") }
        }
        let missing = CommandKeyStore([folder.path("nothing")])
        guard case .failed? = #expect(throws: KeyStoreError.self, performing: { try missing.load(.current) }) else {
            return #expect(Bool(false), "a missing program is no empty store")
        }
        #expect(throws: KeyStoreError.self) { try CommandKeyStore([]).load(.current) }
    }

    @Test("that does not end in time has failed, and is ended")
    func timeout() throws {
        let store = try store("echo $$ > '\(folder.path("pid"))'; exec sleep 600", timeout: 0.3)
        let error = #expect(throws: KeyStoreError.self) { try store.load(.current) }
        guard case .failed? = error else { return #expect(Bool(false)) }
        let pid = try #require(pid_t(String(contentsOfFile: folder.path("pid"), encoding: .utf8).dropLast()))
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
    }

    @Test("may write what it likes when it stores and removes, and is not ended for it")
    func chatter() throws {
        let store = try store(
            """
            cd '\(folder.path)'
            yes | head -c 300000
            case $1 in
            store) cat > "$2" ;;
            load) [ -e "$2" ] || exit 44; exit 36 ;;
            remove) [ -e "$2" ] || exit 44; rm "$2" ;;
            list) exit 44 ;;
            esac
            echo "$1" >> done
            """)
        #expect(throws: KeyStoreError.absent) { try store.load(.current) }
        #expect(throws: KeyStoreError.absent) { try store.remove(.current) }
        #expect(try store.formerKeys() == [])
        try store.store(.random(), as: .current)
        guard case .locked? = #expect(throws: KeyStoreError.self, performing: { try store.load(.current) }) else {
            return #expect(Bool(false), "36 is locked")
        }
        try store.remove(.current)
        #expect(folder.text("done") == "store\nremove\n")
    }

    @Test("that writes more than a key or a list runs to its end, and has failed")
    func excess() throws {
        let store = try store("yes | head -c 300000; echo \"$1\" >> '\(folder.path("done"))'")
        let calls: [(verb: String, run: () throws -> Void)] = [
            ("load", { _ = try store.load(.current) }), ("list", { _ = try store.formerKeys() }),
        ]
        for call in calls {
            guard case .failed(let why)? = #expect(throws: KeyStoreError.self, performing: call.run) else {
                return #expect(Bool(false), "too much is no answer")
            }
            #expect(why.contains("\(call.verb) wrote more than"), "\(why)")
        }
        #expect(folder.text("done") == "load\nlist\n")
    }

    @Test("that writes without end is ended at the limit")
    func endless() throws {
        let store = try store("echo $$ > '\(folder.path("pid"))'; exec yes", timeout: 0.3)
        guard case .failed(let why)? = #expect(throws: KeyStoreError.self, performing: { try store.load(.current) })
        else { return #expect(Bool(false)) }
        #expect(why.contains("did not end within 0.3 seconds"))
        let pid = try #require(pid_t(folder.text("pid").dropLast()))
        #expect(kill(pid, 0) != 0 && errno == ESRCH)
    }

    @Test("that leaves a process behind with its output is not waited for")
    func background() throws {
        let spelled = "x'" + String(repeating: "0f", count: 32) + "'"
        let store = try store("sleep 600 & echo $! > '\(folder.path("pid"))'; echo \"\(spelled)\"")
        #expect(try store.load(.current).withUnsafeBytes { Array($0) } == [UInt8](repeating: 15, count: 32))
        let pid = try #require(pid_t(String(contentsOfFile: folder.path("pid"), encoding: .utf8).dropLast()))
        #expect(kill(pid, SIGKILL) == 0)
    }

    @Test("that does not read the key it is given ends no program")
    func deafness() throws {
        let store = try store("exec <&-; exit 0")
        try store.store(.random(), as: .current)
    }

    @Test("gets its own arguments, and no signal that this process has blocked")
    func environment() throws {
        let store = try store(
            """
            printf '%s\\n' "$@" > '\(folder.path("arguments"))'
            grep SigBlk /proc/self/status > '\(folder.path("signals"))'
            exit 44
            """)
        var blocked = sigset_t(), former = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &blocked, &former)
        defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
        #expect(throws: KeyStoreError.absent) { try store.load(.next) }
        #expect(try String(contentsOfFile: folder.path("arguments"), encoding: .utf8) == "load\nnext\n")
        guard FileManager.default.fileExists(atPath: "/proc/self/status") else { return }
        let signals = try String(contentsOfFile: folder.path("signals"), encoding: .utf8)
        #expect(signals == "SigBlk:\t0000000000000000\n")
    }
}

@Suite("A key store by credentials of systemd", .serialized)
struct CredentialKeyStoreTests {
    @Test("reads the credential, distinguishes a missing one from a missing service, and writes nothing")
    func credential() async {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            let store = CredentialKeyStore(name: "db-key")
            func load(_ store: CredentialKeyStore) -> KeyStoreError? {
                do {
                    _ = try store.load(.current)
                    return nil
                } catch {
                    return error
                }
            }
            unsetenv("CREDENTIALS_DIRECTORY")
            guard case .failed = load(store) else { exit(3) }
            setenv("CREDENTIALS_DIRECTORY", folder.path, 1)
            guard load(store) == .absent else { exit(4) }
            // Without it, no database is made, since its key could not be kept.
            do {
                try addRow(path, .managed(by: store))
                exit(5)
            } catch let error as DatabaseError {
                guard error.reason == .keyStoreFailed else { exit(6) }
            }
            try FileKeyStore(path: folder.path("db-key")).store(.random(), as: .current)
            chmod(folder.path("db-key"), 0o440)
            for count in 1...2 where try addRow(path, .managed(by: store)) != count { exit(7) }
            let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
            do {
                try queue.rotateKey(to: .managed(by: store))
                exit(8)
            } catch let error as DatabaseError {
                guard error.reason == .keyStoreFailed else { exit(9) }
            }
            try queue.close()
            guard try addRow(path, .managed(by: store)) == 3 else { exit(10) }
            // The administrator changes the key, and keeps the former one for the copies.
            let key = try store.load(.current), name = "db-key-former-1700000000-\(try key.identifier!)"
            try FileManager.default.moveItem(atPath: folder.path("db-key"), toPath: folder.path(name))
            try FileKeyStore(path: folder.path("db-key")).store(.random(), as: .current)
            guard try addRow(path, .managed(by: store)) == 4 else { exit(12) }
            for name in ["", "..", "a/b"] {
                guard case .failed = load(CredentialKeyStore(name: name)) else { exit(11) }
            }
        }
    }
}
