import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// With a program that answers as libsecret's `secret-tool` 0.20.5 does beside GNOME Keyring 42; and with these
/// themselves where they are installed.
@Suite("A key store by the Secret Service", .timeLimit(.minutes(1)))
struct SecretServiceKeyStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Items are files, named by their attributes. A file `locked` locks the keyring, `hiding` hides its items then,
    /// and `opening` unlocks it when something is stored.
    private func standIn() throws -> SecretServiceKeyStore {
        let path = folder.path("secret-tool")
        try Data(
            """
            #!/bin/sh
            cd '\(folder.path)' || exit 1
            [ -e nobus ] && { echo 'secret-tool: Cannot autolaunch D-Bus' >&2; exit 1; }
            verb=$1; shift
            case $1 in --*) shift ;; esac
            item="item-$6"
            case $verb in
            lookup) [ ! -e locked ] && [ -e "$item" ] && exec cat "$item"; exit 1 ;;
            search)
                [ -e "$item" ] || exit 0
                [ -e locked ] && [ -e hiding ] && exit 0
                echo '[/1]'; [ -e locked ] && { echo 'Cannot get secret of a locked object' >&2; exit 0; }
                echo "secret = $(cat "$item")" ;;
            store)
                [ -e opening ] && rm -f locked
                [ -e locked ] && { echo 'Cannot create an item in a locked collection' >&2; exit 1; }
                cat > "$item" ;;
            clear) [ ! -e locked ] && [ -e "$item" ] && exec rm "$item"; exit 1 ;;
            *) exit 2 ;;
            esac
            """.utf8
        ).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o700) == 0)
        var store = SecretServiceKeyStore(service: "Notes", account: "db")
        store.program = path
        return store
    }

    private func set(_ names: String...) {
        for name in names { #expect(FileManager.default.createFile(atPath: folder.path(name), contents: nil)) }
    }

    private func unset(_ name: String) throws { try FileManager.default.removeItem(atPath: folder.path(name)) }

    private func answer(_ store: some KeyStore) -> KeyStoreError? {
        #expect(throws: KeyStoreError.self) { try store.load(.current) }
    }

    @Test("keeps, gives back, replaces nothing, and removes")
    func works() throws {
        let store = try standIn(), key = try DatabaseKey.random()
        #expect(answer(store) == .absent)
        try store.store(key, as: .current)
        #expect(try store.load(.current).withUnsafeBytes { a in try key.withUnsafeBytes { a.elementsEqual($0) } })
        #expect(throws: KeyStoreError.exists) { try store.store(.random(), as: .current) }
        #expect(throws: KeyStoreError.absent) { try store.load(.next) }
        try store.remove(.current)
        #expect(answer(store) == .absent)
        #expect(throws: KeyStoreError.absent) { try store.remove(.current) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("item-unlocking")))
    }

    @Test("lists more former keys than a page of a pipe has room for")
    func manyFormerKeys() throws {
        let store = try standIn()
        let keys = (0..<200).map { FormerKey(identifier: String(format: "%032x", $0), date: Date()) }
        for key in keys { try store.store(.random(), as: key) }
        let listed = try #require(try store.formerKeys())
        #expect(Set(listed.map(\.name)) == Set(keys.map(\.name)))
    }

    @Test("keeps former keys, which open copies, and forgets them")
    func formerKeys() throws {
        let store = try standIn(), path = folder.path("db.sqlite"), copy = folder.path("copy.sqlite")
        try addRow(path, .managed(by: store))
        #expect(try store.formerKeys() == [])
        for _ in 0..<2 {
            let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
            if !FileManager.default.fileExists(atPath: copy) { try queue.vacuum(into: copy) }
            try queue.rotateKey(to: .managed(by: store))
            try queue.close()
        }
        let former = try #require(try store.formerKeys())
        #expect(former.count == 2)
        #expect(try rowCount(copy, .managed(by: store)) == 1)
        set("locked")
        #expect(throws: KeyStoreError.self) { try store.formerKeys() }
        try unset("locked")
        for key in former { try store.remove(key) }
        #expect(try store.formerKeys() == [])
        #expect(throws: DatabaseError.self) { try rowCount(copy, .managed(by: store)) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("item-former")))
    }

    @Test("has the key of one database: the second is refused while the first exists")
    func twoDatabases() throws {
        let store = try standIn(), first = folder.path("first.sqlite"), second = folder.path("second.sqlite")
        try addRow(first, .managed(by: store))
        #expect(try store.databasePath() == first)
        let error = #expect(throws: DatabaseError.self) { try addRow(second, .managed(by: store)) }
        #expect(error?.reason == .foreignKeyStore && error?.message?.contains("first.sqlite") == true)
        try FileManager.default.removeItem(atPath: first)
        #expect(try addRow(second, .managed(by: store)) == 1)
        #expect(try store.databasePath() == second)
    }

    @Test("distinguishes a locked keyring from one without the key, although the look-up returns the same")
    func locked() throws {
        let store = try standIn(), path = folder.path("db.sqlite")
        #expect(try addRow(path, .managed(by: store)) == 1)
        set("locked")
        guard case .locked? = answer(store) else { return #expect(Bool(false)) }
        let error = #expect(throws: DatabaseError.self) { try addRow(path, .managed(by: store)) }
        #expect(error?.reason == .keyStoreLocked)
        try unset("locked")
        #expect(try addRow(path, .managed(by: store)) == 2)
    }

    @Test("without a session bus, or without the program, has failed")
    func unreachable() throws {
        var store = try standIn()
        set("nobus")
        guard case .failed? = answer(store) else { return #expect(Bool(false)) }
        store.program = folder.path("nothing")
        guard case .failed? = answer(store) else { return #expect(Bool(false)) }
    }

    @Test("does not replace the key of a keyring that hides its items until it is unlocked")
    func hidden() throws {
        let store = try standIn(), key = try DatabaseKey.random(), path = folder.path("db.sqlite")
        try store.store(key, as: .current)
        set("locked", "hiding")
        #expect(throws: DatabaseError.self) { try addRow(path, .managed(by: store)) }
        set("opening")
        #expect(throws: KeyStoreError.exists) { try store.store(.random(), as: .current) }
        #expect(try store.load(.current).withUnsafeBytes { a in try key.withUnsafeBytes { a.elementsEqual($0) } })
    }

    @Test("takes no notice of what the program writes when it stores and clears")
    func chatter() throws {
        var store = try standIn()
        let lines = """
            #!/bin/sh
            '\(store.program)' "$@"; status=$?
            case $1 in store | clear) yes | head -c 1000 ;; esac
            exit $status
            """
        store.program = folder.path("chatty")
        try Data(lines.utf8).write(to: URL(fileURLWithPath: store.program))
        try #require(chmod(store.program, 0o700) == 0)
        let key = try DatabaseKey.random()
        try store.store(key, as: .current)
        #expect(try store.load(.current).withUnsafeBytes { a in try key.withUnsafeBytes { a.elementsEqual($0) } })
        try store.remove(.current)
        #expect(answer(store) == .absent)
    }

    private static let programs = ["secret-tool", "gnome-keyring-daemon", "dbus-run-session"]

    private static let areInstalled: Bool = programs.allSatisfy { name in
        (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }

    /// Run the tests in `dbus-run-session` with a keyring that `gnome-keyring-daemon --unlock` has opened.
    @Test("keeps a key in a real keyring", .enabled(if: areInstalled && getenv("DBUS_SESSION_BUS_ADDRESS") != nil))
    func realKeyring() throws {
        let store = SecretServiceKeyStore(service: "strongroom-tests", account: UUID().uuidString, timeout: 10)
        let path = folder.path("db.sqlite")
        #expect(answer(store) == .absent)
        #expect(try addRow(path, .managed(by: store)) == 1)
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store))
        try queue.close()
        #expect(try addRow(path, .managed(by: store)) == 2)
        try store.remove(.current)
        #expect(answer(store) == .absent)
    }
}
