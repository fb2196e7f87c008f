import Foundation

/// Other processes that have a file open: after a rotation they must open it anew.
///
/// From /proc, where there is one; of other users' processes only root learns.
struct OpenElsewhere: Sendable {
    struct Process: Sendable, Equatable {
        var identifier: Int32
        var name: String
    }

    private struct File: Hashable {
        var device: UInt64
        var number: UInt64

        init?(_ path: String) {
            var status = stat()
            // Follows the link of /proc without opening the file: closing it would drop SQLite's locks.
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    private var processes: [File: [Process]] = [:]

    init() {
        let files = FileManager.default
        for entry in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let identifier = Int32(entry), identifier != getpid() else { continue }
            let folder = "/proc/\(entry)/fd"
            for file in Set(((try? files.contentsOfDirectory(atPath: folder)) ?? []).compactMap({ File("\(folder)/\($0)") })) {
                processes[file, default: []].append(Process(identifier: identifier, name: Self.name(of: entry)))
            }
        }
    }

    func processes(having path: String) -> [Process] {
        File(path).flatMap { processes[$0] } ?? []
    }

    /// The first of several names of one file counts.
    static func withoutDuplicates(_ paths: [String]) -> [String] {
        var seen = Set<File>()
        return paths.filter { path in File(path).map { seen.insert($0).inserted } ?? true }
    }

    private static func name(of process: String) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? "?"
        return text.trimmingCharacters(in: .newlines)
    }
}
