import Dispatch
import Foundation

/// The watched files of one database.
private struct WatchedFiles {
    /// The absolute path, in which SQLite has resolved all links.
    let database: String

    var log: String { CompanionFile.log.path(of: database) }
    var journal: String { CompanionFile.journal.path(of: database) }

    var folder: String { String(database[...database.utf8.lastIndex(of: UInt8(ascii: "/"))!]) }

    /// The names in the folder whose files are watched for being created or removed.
    var names: Set<String> {
        Set([database, log, journal].map(NamedFile.name))
    }

    func failure(_ number: CInt) -> DatabaseError {
        DatabaseError(
            .SQLITE_CANTOPEN, refusing: "can't watch the files of \(database): \(String(cString: strerror(number)))",
            advice: "read access to the folder is needed, and room in the system's limits on watched files")
    }
}

/// Suspends the source for an instant. Events meanwhile are reported as one, so that they don't wake this process for
/// each write.
private func pause(_ source: any DispatchSourceProtocol, on queue: DispatchQueue) {
    source.suspend()
    // Holds the source: releasing a suspended source stops the program. Sources can be used on any thread.
    nonisolated(unsafe) let resting = source
    queue.asyncAfter(deadline: .now() + .milliseconds(20)) { resting.resume() }
}

#if canImport(Darwin)

/// A watch over the files of a database by dispatch sources: the log, the rollback journal, and their folder.
///
/// It does not watch the database file: closing a descriptor of it would release the locks of this process
/// (<https://www.sqlite.org/howtocorrupt.html>, 2.2). Each change of the file also changes the log or a journal.
///
/// Sendable because the sources are only used on `queue`.
final class DatabaseFileWatch: FileWatch, @unchecked Sendable {
    private let files: WatchedFiles
    private let onEvent: @Sendable () -> Void
    private let queue = DispatchQueue(label: "Strongroom.DatabaseFileWatch", qos: .userInitiated)
    private var sources: [String: any DispatchSourceFileSystemObject] = [:]

    init(path: String, onEvent: @escaping @Sendable () -> Void) throws {
        files = WatchedFiles(database: path)
        self.onEvent = onEvent
        try queue.sync {
            guard watch(files.folder) else { throw files.failure(errno) }
            watchFiles()
        }
    }

    deinit {
        for source in sources.values { source.cancel() }
    }

    func cancel() {
        queue.async {
            for source in self.sources.values { source.cancel() }
            self.sources = [:]
        }
    }

    private func watchFiles() {
        for path in [files.log, files.journal] where sources[path] == nil { _ = watch(path) }
    }

    private func watch(_ path: String) -> Bool {
        let descriptor = open(path, O_EVTONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        let source = DispatchSource.makeFileSystemObjectSource(
            fileDescriptor: descriptor, eventMask: [.write, .extend, .delete, .rename, .revoke], queue: queue)
        source.setEventHandler { [weak self] in self?.didChange(path) }
        source.setCancelHandler { Foundation.close(descriptor) }
        sources[path] = source
        source.activate()
        return true
    }

    private func didChange(_ path: String) {
        guard let source = sources[path] else { return }
        if !source.data.isDisjoint(with: [.delete, .rename, .revoke]) {
            source.cancel()
            sources[path] = nil
        } else {
            pause(source, on: queue)
        }
        watchFiles()
        onEvent()
    }
}

#else

/// A watch over the files of a database by inotify: the database, the log, and their folder. It doesn't open the files,
/// so that it releases no locks.
final class DatabaseFileWatch: FileWatch {
    private let files: WatchedFiles
    fileprivate let onEvent: @Sendable () -> Void

    init(path: String, onEvent: @escaping @Sendable () -> Void) throws {
        files = WatchedFiles(database: path)
        self.onEvent = onEvent
        try InotifyQueue.shared.begin(self, files)
    }

    deinit {
        cancel()
    }

    func cancel() {
        InotifyQueue.shared.end(ObjectIdentifier(self))
    }
}

/// The events of all watches of this process, from one inotify instance. It stays: the system frees instances late, and
/// limits their number.
private final class InotifyQueue: Sendable {
    static let shared = InotifyQueue()

    private let queue = DispatchQueue(label: "Strongroom.InotifyQueue", qos: .userInitiated)
    private let watches = Mutex(InotifyWatches())

    // MARK: - Watches

    func begin(_ watch: DatabaseFileWatch, _ files: WatchedFiles) throws {
        try watches.withLock { watches in
            if watches.source == nil { try open(files, &watches) }
            try watches.add(watch, files)
            if watches.hasFailed { retryLater(&watches) }
        }
    }

    func end(_ watch: ObjectIdentifier) {
        watches.withLock { $0.remove(watch) }
    }

    private func open(_ files: WatchedFiles, _ watches: inout InotifyWatches) throws {
        let instance = inotify_init1(CInt(IN_NONBLOCK) | CInt(IN_CLOEXEC))
        guard instance >= 0 else { throw files.failure(errno) }
        let source = DispatchSource.makeReadSource(fileDescriptor: instance, queue: queue)
        source.setEventHandler { self.readEvents(from: instance) }
        (watches.instance, watches.source) = (instance, source)
        source.activate()
    }

    // MARK: - Events

    private func readEvents(from instance: CInt) {
        let changed = watches.withLock { watches -> [DatabaseFileWatch] in
            guard let source = watches.source else { return [] }
            pause(source, on: queue)
            let changed = watches.changed(by: InotifyEvent.all(of: instance))
            if watches.hasFailed { retryLater(&watches) }
            return changed
        }
        for watch in changed { watch.onEvent() }
    }

    /// Watches again, in a second, the files for which the system had no room. Until it has, each second counts as a
    /// change.
    private func retryLater(_ watches: inout InotifyWatches) {
        guard !watches.isRetrying else { return }
        watches.isRetrying = true
        queue.asyncAfter(deadline: .now() + .seconds(1)) { self.retry() }
    }

    private func retry() {
        let changed = watches.withLock { watches -> [DatabaseFileWatch] in
            watches.isRetrying = false
            let changed = watches.retryFailed()
            if watches.hasFailed { retryLater(&watches) }
            return changed
        }
        for watch in changed { watch.onEvent() }
    }
}

/// The watches that share one inotify instance, under the lock of ``InotifyQueue``.
private struct InotifyWatches {
    private struct Entry {
        weak var watch: DatabaseFileWatch?
        let files: WatchedFiles
        let names: Set<String>
        /// The kernel's descriptors of the folder and of the existing files. Several databases can share one. -1 if the
        /// folder is not watched.
        var folder: CInt = -1
        var descriptors: Set<CInt> = []
        /// True if the folder, or a file that exists, could not be watched.
        var hasFailed = false

        /// Watches the existing files with the names until the next event. A file that was replaced has another
        /// descriptor.
        ///
        /// The first event ends the watch, so that a writer doesn't pay for an event at each of its writes.
        mutating func addFiles(_ instance: CInt) {
            let firstWrite = UInt32(IN_MODIFY) | UInt32(IN_ONESHOT)
            hasFailed = folder < 0 && addFolder(instance) != 0
            for path in [files.database, files.log] {
                let descriptor = inotify_add_watch(instance, path, firstWrite | InotifyWatches.isShared)
                if descriptor >= 0 { descriptors.insert(descriptor) } else if errno != ENOENT { hasFailed = true }
            }
        }

        /// Watches the folder, also for being moved itself. Returns an errno.
        mutating func addFolder(_ instance: CInt) -> CInt {
            let names = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO)
            let changes = names | UInt32(IN_MOVE_SELF | IN_DELETE_SELF) | UInt32(IN_ONLYDIR)
            folder = inotify_add_watch(instance, files.folder, changes | InotifyWatches.isShared)
            return folder < 0 ? errno : 0
        }

        func isConcerned(by event: InotifyEvent) -> Bool {
            if event.mask & UInt32(IN_Q_OVERFLOW) != 0 || descriptors.contains(event.descriptor) { return true }
            let isItself = event.mask & UInt32(IN_IGNORED | IN_MOVE_SELF | IN_DELETE_SELF) != 0
            return event.descriptor == folder && (isItself || names.contains(event.name))
        }
    }

    /// Two databases in one folder, and two connections to one file, share a watch: each adds its events to it.
    private static let isShared = UInt32(IN_MASK_ADD)

    var source: (any DispatchSourceRead)?
    var instance: CInt = -1
    /// True if the files that could not be watched will be tried again.
    var isRetrying = false
    private var entries: [ObjectIdentifier: Entry] = [:]

    mutating func add(_ watch: DatabaseFileWatch, _ files: WatchedFiles) throws {
        var entry = Entry(watch: watch, files: files, names: files.names)
        let failure = entry.addFolder(instance)
        // Without room, it is looked at each second.
        guard failure == 0 || failure == ENOSPC else { throw files.failure(failure) }
        entry.addFiles(instance)
        entries[ObjectIdentifier(watch)] = entry
    }

    mutating func remove(_ watch: ObjectIdentifier) {
        guard let entry = entries.removeValue(forKey: watch) else { return }
        for descriptor in entry.descriptors.union([entry.folder]) where !isUsed(descriptor) {
            if descriptor >= 0 { inotify_rm_watch(instance, descriptor) }
        }
    }

    /// True if a folder, or a file that exists, could not be watched.
    var hasFailed: Bool { entries.values.contains(where: \.hasFailed) }

    /// Tries again to watch the files that could not be watched, and returns their watches.
    mutating func retryFailed() -> [DatabaseFileWatch] {
        let failed = entries.filter(\.value.hasFailed)
        for identifier in failed.keys { entries[identifier]!.addFiles(instance) }
        return failed.values.compactMap(\.watch)
    }

    private func isUsed(_ descriptor: CInt) -> Bool {
        entries.values.contains { $0.folder == descriptor || $0.descriptors.contains(descriptor) }
    }

    /// Returns the watches that the events concern, and follows files that were replaced.
    mutating func changed(by events: [InotifyEvent]) -> [DatabaseFileWatch] {
        var changed: [DatabaseFileWatch] = []
        for (identifier, entry) in entries where events.contains(where: entry.isConcerned) {
            var entry = entry
            for event in events where event.mask & UInt32(IN_IGNORED) != 0 {
                entry.descriptors.remove(event.descriptor)
                if event.descriptor == entry.folder { entry.folder = -1 }
            }
            entry.addFiles(instance)
            entries[identifier] = entry
            if let watch = entry.watch { changed.append(watch) }
        }
        return changed
    }
}

/// An event of an inotify instance.
private struct InotifyEvent {
    let descriptor: CInt
    let mask: UInt32
    let name: String

    /// Reads all events that wait.
    static func all(of instance: CInt) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: MemoryLayout<inotify_event>.alignment) { buffer in
            while case let count = read(instance, buffer.baseAddress, buffer.count), count > 0 {
                append(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: &events)
            }
        }
        return events
    }

    private static func append(_ bytes: UnsafeRawBufferPointer, to events: inout [InotifyEvent]) {
        var offset = 0
        while offset < bytes.count {
            let header = bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let start = offset + MemoryLayout<inotify_event>.size
            offset = start + Int(header.len)
            let name = String(decoding: bytes[start..<offset].prefix { $0 != 0 }, as: UTF8.self)
            events.append(InotifyEvent(descriptor: header.wd, mask: header.mask, name: name))
        }
    }
}
#endif
