import Foundation

/// The locks that this process holds on a database file and its companions, from /proc/locks.
enum Locks {
    /// Those that keep other processes out.
    static func exclusive(on path: String) throws -> Set<String> {
        try all(on: path).filter { $0.contains(" WRITE ") }
    }

    /// The lines of the table, without their numbers.
    ///
    /// Linux shows the table in portions, by position: a lock that is released between two of them hides one that is
    /// held. With two processes that lock and unlock 60 files, 1 of 200 readings lacks a lock. Three are united.
    static func all(on path: String) throws -> Set<String> {
        let inodes = ["", "-wal", "-shm", "-journal"].compactMap { suffix -> String? in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + suffix)
            return (attributes?[.systemFileNumber] as? NSNumber).map { ":\($0.uint64Value) " }
        }
        let process = " \(ProcessInfo.processInfo.processIdentifier) "
        var locks = Set<String>()
        for _ in 0..<3 {
            let table = try String(contentsOfFile: "/proc/locks", encoding: .utf8)
            for line in table.split(separator: "\n") where line.contains(process) {
                if inodes.contains(where: line.contains) { locks.insert(String(line.drop { $0 != " " })) }
            }
        }
        return locks
    }
}
