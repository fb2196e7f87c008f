import Foundation
import Strongroom

/// The free space that a rotation needs: the write-ahead log holds all pages until the commit.
struct Room: Sendable {
    let needed: Int64
    let available: Int64
    /// The number of the file system.
    let device: UInt64

    init(for target: Target) {
        let pageSize = Int64(target.settings.pageSize)
        needed = target.inspection.size / pageSize * (pageSize + 32) + 4096
        device = FileIdentity(target.place.path)?.device ?? 0
        var system = statvfs()
        available =
            statvfs(
                target.place.path,
                &system) == 0 ? Int64(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize)) : .max
    }

    func require(for file: String) throws {
        guard available > needed else {
            throw failure(
                file, needed, "a rotation needs \(megabytes(needed)) of free space beside it", "Make room on its disk")
        }
    }

    /// Returns the failure for `file` if the largest of these rotations, as many as run at the same time, need more
    /// space together than their file system has. Nil if there is enough.
    static func failure(_ rooms: [Room], jobs: Int, of file: String) -> Failure? {
        guard let least = rooms.min(by: { $0.available < $1.available }) else { return nil }
        let largest = rooms.map(\.needed).sorted(by: >).prefix(jobs), needed = largest.reduce(0, +)
        guard largest.count > 1, least.available <= needed else { return nil }
        return least.failure(
            file, needed,
            "\(largest.count) rotations at the same time need \(megabytes(needed)) of free space on its disk",
            "Make room on its disk, or give a smaller number of --jobs")
    }

    private func failure(_ file: String, _ needed: Int64, _ need: String, _ remedy: String) -> Failure {
        Failure(
            .diskFull, file: file, "\(need), and \(megabytes(available)) are free; nothing was changed",
            details: [("needed_bytes", .integer(needed)), ("available_bytes", .integer(available))],
            remedy: "\(remedy), then run this again")
    }
}
