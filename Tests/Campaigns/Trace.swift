import CStrongroomFaults
import Foundation

/// A change of the files in a folder, as the system was asked for it.
enum Change {
    case write(file: UInt64, offset: Int, bytes: [UInt8])
    case truncate(file: UInt64, size: Int)
    case sync(file: UInt64)
    case syncFolder(path: String)
    case create(path: String, file: UInt64)
    case makeFolder(path: String)
    case delete(path: String)
    case rename(from: String, to: String)
    case link(from: String, to: String)
    case note(Note)

    /// Returns what `body` changes below the folder of a place.
    static func recorded(in place: Place, _ body: () throws -> Void) throws -> [Change] {
        strongroom_calls_watch(place.folder)
        strongroom_trace_begin()
        defer { strongroom_calls_watch(nil) }
        let result = Result { try body() }
        var size: Int64 = 0
        let bytes = UnsafeRawBufferPointer(start: strongroom_trace_end(&size), count: Int(size))
        try result.get()
        return changes(bytes)
    }

    private static func changes(_ bytes: UnsafeRawBufferPointer) -> [Change] {
        // A folder may be gone by now.
        var changes: [Change] = [], madeFolders: Set<String> = [], at = 0
        func take(_ count: Int) -> UnsafeRawBufferPointer {
            defer { at += count }
            return UnsafeRawBufferPointer(rebasing: bytes[at..<at + count])
        }
        while at < bytes.count {
            let size = MemoryLayout<strongroom_trace_record>.size
            let record = take(size).loadUnaligned(as: strongroom_trace_record.self)
            let path = String(decoding: take(Int(record.path_size)), as: UTF8.self)
            let to = String(decoding: take(Int(record.to_size)), as: UTF8.self)
            let change = change(record, path, to, take(Int(record.size)), madeFolders)
            if case .makeFolder(let path) = change { madeFolders.insert(path) }
            changes.append(change)
        }
        return changes
    }

    private static func change(
        _ record: strongroom_trace_record, _ path: String, _ to: String, _ bytes: UnsafeRawBufferPointer,
        _ madeFolders: Set<String>
    ) -> Change {
        let file = record.file, offset = Int(record.offset)
        switch strongroom_trace_kind(rawValue: record.kind) {
        case STRONGROOM_TRACE_WRITE: return .write(file: file, offset: offset, bytes: Array(bytes))
        case STRONGROOM_TRACE_TRUNCATE: return .truncate(file: file, size: offset)
        case STRONGROOM_TRACE_SYNC:
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            let syncsFolder = madeFolders.contains(path) || exists && isFolder.boolValue
            return syncsFolder ? .syncFolder(path: path) : .sync(file: file)
        case STRONGROOM_TRACE_CREATE: return .create(path: path, file: file)
        case STRONGROOM_TRACE_FOLDER: return .makeFolder(path: path)
        case STRONGROOM_TRACE_DELETE: return .delete(path: path)
        case STRONGROOM_TRACE_RENAME: return .rename(from: path, to: to)
        case STRONGROOM_TRACE_LINK: return .link(from: path, to: to)
        default: return .note(Note(number: offset))
        }
    }
}
