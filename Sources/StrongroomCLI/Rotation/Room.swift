import Foundation
import Strongroom

/// The free space that a rotation needs: the write-ahead log holds all pages until the commit.
struct Room: Sendable {
    let needed: Int64
    let available: Int64

    init(for target: Target) {
        let pageSize = Int64(target.settings.pageSize)
        needed = target.inspection.size / pageSize * (pageSize + 32) + 4096
        var system = statvfs()
        available =
            statvfs(
                target.place.path,
                &system) == 0 ? Int64(clamping: UInt64(system.f_bavail) * UInt64(system.f_frsize)) : .max
    }

    func require(for file: String) throws {
        guard available > needed else {
            throw Failure(
                .diskFull, file: file,
                """
                a rotation needs \(megabytes(needed)) of free space beside it, and \(megabytes(available)) \
                are free; nothing was changed
                """,
                details: [("needed_bytes", .integer(needed)), ("available_bytes", .integer(available))],
                remedy: "Make room on its disk, then run this again")
        }
    }
}
