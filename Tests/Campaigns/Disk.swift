import Foundation
import TestSupport

/// The files of a folder on a disk: what was synced, and what was written since.
struct Disk {
    /// A write is torn at its sectors.
    private static let sector = 512

    private struct File {
        var synced: [UInt8] = []
        var pending: [Change] = []
    }

    /// A name that was given to a file, or taken, in a folder that was not synced since.
    private struct NameChange {
        let folder: String
        var given: (path: String, file: UInt64)?
        var taken: String?
        var made: String?
        var isSynced = false
    }

    /// The fate of the changes that no sync has brought to the disk.
    enum Loss: CaseIterable {
        /// All are lost, or none is.
        case all, none
        /// The names have changed, and what the files should hold is lost; and the other way round.
        case contents, names
        /// Some writes are lost, or some sectors of writes; names are lost from some change on.
        case someWrites, someSectors
    }

    private var files: [UInt64: File] = [:]
    private var names: [String: UInt64] = [:]
    /// As the program sees them.
    private var currentNames: [String: UInt64] = [:]
    private var currentFolders: Set<String> = []
    private var syncedFolders: Set<String> = []
    /// In the order of the program, from the first one that was not synced. A folder that was synced later than
    /// another one may have the earlier changes.
    private var pendingNames: [NameChange] = []
    /// The system gives the number of a file that was removed to another one.
    private var numbers: [UInt64: UInt64] = [:]

    init(_ place: Place) throws {
        syncedFolders.insert(place.folder)
        for name in try FileManager.default.contentsOfDirectory(atPath: place.folder) {
            let path = place.folder + "/" + name
            let number = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as! UInt64
            files[number] = File(synced: Array(try Data(contentsOf: URL(fileURLWithPath: path))))
            numbers[number] = number
            names[path] = number
        }
        currentNames = names
    }

    // MARK: - Changes

    mutating func apply(_ change: Change) {
        switch change {
        case .write(let file, _, _), .truncate(let file, _): files[number(file), default: File()].pending.append(change)
        case .sync(let file): sync(number(file))
        case .syncFolder(let path): syncNames(in: path)
        case .create(let path, let file):
            let own = UInt64(1 << 60 + files.count)
            numbers[file] = own
            files[own] = File()
            add(NameChange(folder: parent(path), given: (path, own)))
        case .makeFolder(let path): add(NameChange(folder: parent(path), made: path))
        case .delete(let path): add(NameChange(folder: parent(path), taken: path))
        case .rename(let from, let to):
            if let file = currentNames[from] { add(NameChange(folder: parent(to), given: (to, file), taken: from)) }
        case .link(let from, let to):
            if let file = currentNames[from] { add(NameChange(folder: parent(to), given: (to, file))) }
        case .note: break
        }
    }

    private func number(_ file: UInt64) -> UInt64 { numbers[file] ?? file }

    private mutating func add(_ change: NameChange) {
        pendingNames.append(change)
        Disk.apply(change, &currentNames, &currentFolders)
    }

    private func parent(_ path: String) -> String { String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) }

    private mutating func sync(_ file: UInt64) {
        guard var found = files[file] else { return }
        for change in found.pending { Disk.apply(change, to: &found.synced) }
        found.pending = []
        files[file] = found
    }

    private mutating func syncNames(in folder: String) {
        for index in pendingNames.indices where pendingNames[index].folder == folder {
            pendingNames[index].isSynced = true
        }
        let synced = pendingNames.prefix(while: \.isSynced)
        for change in synced { Disk.apply(change, &names, &syncedFolders) }
        pendingNames.removeFirst(synced.count)
    }

    private static func apply(_ change: NameChange, _ names: inout [String: UInt64], _ folders: inout Set<String>) {
        if let made = change.made { folders.insert(made) }
        if let taken = change.taken { names[taken] = nil }
        if let given = change.given { names[given.path] = given.file }
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
        switch change {
        case .write(_, let offset, let bytes):
            if content.count < offset { content += [UInt8](repeating: 0, count: offset - content.count) }
            content.replaceSubrange(offset..<min(content.count, offset + bytes.count), with: bytes)
        case .truncate(_, let size):
            if size <= content.count {
                content.removeSubrange(size...)
            } else {
                content += [UInt8](repeating: 0, count: size - content.count)
            }
        default: break
        }
    }

    // MARK: - After a power cut

    /// Returns the files that a power cut leaves.
    func contents(after loss: Loss, using random: inout SeededGenerator) -> [String: Data] {
        var names = names, folders = syncedFolders
        let kept = keptCount(loss, using: &random)
        for (index, change) in pendingNames.enumerated() where change.isSynced || index < kept {
            Disk.apply(change, &names, &folders)
        }
        var contents: [String: Data] = [:]
        // In one order, or a seed would not give the same files again.
        for (path, number) in names.sorted(by: { $0.key < $1.key })
        where folders.contains(parent(path)) && !path.hasSuffix("-shm") {
            contents[path] = Data(content(files[number] ?? File(), after: loss, using: &random))
        }
        return contents
    }

    /// Returns how many of the changes of names are kept even if they were not synced.
    private func keptCount(_ loss: Loss, using random: inout SeededGenerator) -> Int {
        switch loss {
        case .all, .names: 0
        case .none, .contents: pendingNames.count
        case .someWrites, .someSectors: Int.random(in: 0...pendingNames.count, using: &random)
        }
    }

    private func content(_ file: File, after loss: Loss, using random: inout SeededGenerator) -> [UInt8] {
        var content = file.synced
        guard loss != .all, loss != .contents else { return content }
        for change in file.pending {
            switch loss {
            case .someWrites: if Bool.random(using: &random) { Disk.apply(change, to: &content) }
            case .someSectors:
                for part in sectors(of: change) where Bool.random(using: &random) { Disk.apply(part, to: &content) }
            default: Disk.apply(change, to: &content)
            }
        }
        return content
    }

    private func sectors(of change: Change) -> [Change] {
        guard case .write(let file, let offset, let bytes) = change else { return [change] }
        var parts: [Change] = [], at = 0
        while at < bytes.count {
            let end = min(bytes.count, at + Disk.sector - (offset + at) % Disk.sector)
            parts.append(.write(file: file, offset: offset + at, bytes: Array(bytes[at..<end])))
            at = end
        }
        return parts
    }
}
