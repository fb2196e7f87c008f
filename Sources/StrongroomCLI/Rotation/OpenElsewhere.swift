import Foundation

/// Other processes that have a file open, and must reopen it after a rotation.
///
/// Read from /proc, if there is one. Only root sees the processes of other users.
struct OpenElsewhere: Sendable {
    struct Process: Sendable, Equatable {
        var identifier: Int32
        var name: String
    }

    private var processes: [FileIdentity: [Process]] = [:]

    init() {
        let files = FileManager.default
        for entry in (try? files.contentsOfDirectory(atPath: "/proc")) ?? [] {
            guard let identifier = Int32(entry), identifier != getpid() else { continue }
            let folder = "/proc/\(entry)/fd"
            // The links in /proc are resolved without opening the files.
            let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
            for file in Set(names.compactMap { FileIdentity("\(folder)/\($0)") }) {
                processes[file, default: []].append(Process(identifier: identifier, name: Self.name(of: entry)))
            }
        }
    }

    func processes(having path: String) -> [Process] {
        FileIdentity(path).flatMap { processes[$0] } ?? []
    }

    /// Returns the paths without further names of the same file.
    static func withoutDuplicates(_ paths: [String]) -> [String] {
        var seen = Set<FileIdentity>()
        return paths.filter { path in FileIdentity(path).map { seen.insert($0).inserted } ?? true }
    }

    private static func name(of process: String) -> String {
        let text = (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8)) ?? "?"
        return text.trimmingCharacters(in: .newlines)
    }
}
