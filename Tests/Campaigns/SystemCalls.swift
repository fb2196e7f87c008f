import CStrongroomFaults
import Foundation

/// The calls that this process makes of the system.
enum SystemCalls {
    /// Runs `body` while the calls on files below the folder are counted, and fail as the rule says. Returns how many
    /// failed.
    static func watching(_ place: Place, _ rule: Rule? = nil, _ body: () throws -> Void) rethrows -> Int {
        // The folder itself is opened to be synced.
        strongroom_calls_watch(place.folder)
        if let rule { strongroom_calls_fail(rule.call, Int64(rule.number), rule.lasts, rule.error) }
        defer { strongroom_calls_watch(nil) }
        try body()
        return Int(strongroom_calls_failures())
    }

    /// The number of calls of a kind since the watch began.
    static func count(_ kind: Kind) -> Int { Int(strongroom_calls_count(kind.call)) }

    static func note(_ number: Int) { strongroom_trace_note(Int64(number)) }

    /// A call that fails.
    struct Rule: CustomStringConvertible {
        var kind: Kind
        var number: Int
        var lasts: Bool

        var call: strongroom_call { kind.call }
        var error: Int32 { kind == .room ? ENOSPC : EIO }
        var description: String { "\(kind) \(number) \(lasts ? "and on" : "once")" }
    }

    /// The kinds of calls that can fail.
    enum Kind: String, CaseIterable {
        case open, read, write, room, truncate, sync, folderSync, lock, shmLock, map, access, delete, rename, link
        case owner, mode

        var call: strongroom_call {
            switch self {
            case .open: STRONGROOM_CALL_OPEN
            case .read: STRONGROOM_CALL_READ
            case .write, .room: STRONGROOM_CALL_WRITE
            case .truncate: STRONGROOM_CALL_TRUNCATE
            case .sync: STRONGROOM_CALL_SYNC
            case .folderSync: STRONGROOM_CALL_SYNC_FOLDER
            case .lock: STRONGROOM_CALL_LOCK
            case .shmLock: STRONGROOM_CALL_SHM_LOCK
            case .map: STRONGROOM_CALL_MAP
            case .access: STRONGROOM_CALL_ACCESS
            case .delete: STRONGROOM_CALL_DELETE
            case .rename: STRONGROOM_CALL_RENAME
            case .link: STRONGROOM_CALL_LINK
            case .owner: STRONGROOM_CALL_OWNER
            case .mode: STRONGROOM_CALL_MODE
            }
        }
    }
}
