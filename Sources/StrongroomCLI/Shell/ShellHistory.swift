import Foundation
import Strongroom

/// The file with the statements of former sessions: `.strongroom_history` in the home of the user, mode 0600.
struct ShellHistory {
    /// The number of entries that a session begins with. A file with twice as many is shortened to them.
    static let count = 1000

    private let path: String

    /// Nil without a home.
    init?() {
        guard let home = getenv("HOME").map({ String(cString: $0) }), home.hasPrefix("/") else { return nil }
        path = home + "/.strongroom_history"
    }

    /// Returns true if a key stands in the text: `PRAGMA key`, `ATTACH … KEY` and URIs with a key.
    static func hasSecret(_ text: String) -> Bool { SQLText.mentionsKey(text) }

    /// Returns the latest entries, oldest first. None if the file is not this user's own.
    func entries() -> [String] {
        let descriptor = opened(O_RDONLY)
        guard descriptor >= 0 else { return [] }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let lines = String(decoding: (try? file.readToEnd()) ?? Data(), as: UTF8.self).split(separator: "\n")
        let latest = lines.suffix(Self.count).map(String.init)
        if lines.count >= 2 * Self.count { shorten(to: latest) }
        return latest
    }

    /// A history that can't be written is none to report.
    func append(_ entry: String) {
        let descriptor = opened(O_WRONLY | O_APPEND | O_CREAT)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try? Console.write(entry + "\n", to: descriptor)
    }

    private func shorten(to latest: [String]) {
        let descriptor = opened(O_WRONLY | O_TRUNC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        try? Console.write(latest.map { $0 + "\n" }.joined(), to: descriptor)
    }

    /// Opens the file. Negative if it is no regular file of this user. Takes away the rights of others.
    private func opened(_ flags: Int32) -> Int32 {
        let descriptor = open(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { return -1 }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0 || fchmod(descriptor, 0o600) == 0
        else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}
