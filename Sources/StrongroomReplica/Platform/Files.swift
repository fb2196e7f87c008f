/// Files, by system calls. Errors name the file and say what failed.
enum Files {
    static func failure(_ path: String, _ problem: String, _ number: Int32 = errno) -> ReplicaError {
        let reason: ReplicaError.Reason = number == ENOSPC || number == EDQUOT ? .diskFull : .system
        let remedy = reason == .diskFull ? "Make room." : "Check the path and its permissions."
        return ReplicaError(reason, path, "\(problem) (\(String(cString: strerror(number)))). \(remedy)")
    }

    /// Returns nil if there is no such file.
    static func status(_ path: String) -> stat? {
        var found = stat()
        return stat(path, &found) == 0 ? found : nil
    }

    static func status(_ path: [CChar]) -> stat? {
        var found = stat()
        return stat(path, &found) == 0 ? found : nil
    }

    static func status(descriptor: Int32) -> stat? {
        var found = stat()
        return fstat(descriptor, &found) == 0 ? found : nil
    }

    /// True if a change at this time would have another time than `modified`, in nanoseconds: clocks of file systems
    /// tick every few milliseconds, and a clock that was set back leaves times in the future.
    static func isSettled(_ modified: Int64, at milliseconds: Int64) -> Bool {
        abs(milliseconds - modified / 1_000_000) > 100
    }

    static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws -> Int32 {
        let descriptor = systemOpen(path, flags | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(path, "it can't be opened") }
        return descriptor
    }

    /// Reads a file. Returns nil if there is none.
    static func read(_ path: String, limit: Int = .max) throws -> [UInt8]? {
        let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw failure(path, "it can't be opened")
        }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw failure(path, "it is not a file", EINVAL)
        }
        let size = min(Int(found.st_size), limit)
        var bytes = [UInt8](repeating: 0, count: size)
        let count = try bytes.withUnsafeMutableBytes { try read(descriptor, $0, at: 0, path) }
        bytes.removeLast(size - count)
        return bytes
    }

    /// Reads as many bytes as there are. Returns their number.
    static func read(
        _ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64, _ path: String
    ) throws -> Int {
        var done = 0
        while done < bytes.count {
            let count = pread(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, "it can't be read") }
            if count == 0 { break }
            done += count
        }
        return done
    }

    static func write(
        _ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int64, _ path: String
    ) throws {
        var done = 0
        while done < bytes.count {
            let count = pwrite(descriptor, bytes.baseAddress! + done, bytes.count - done, off_t(offset) + off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path, "it can't be written") }
            done += count
        }
    }

    static func sync(_ descriptor: Int32, _ path: String) throws {
        guard fsync(descriptor) == 0 else { throw failure(path, "it can't be synced") }
    }

    static func syncFolder(_ path: String) throws {
        let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        // Some file systems can't sync a folder.
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw failure(path, "the folder can't be synced") }
    }

    /// Creates a folder and those above it, up to `top`, which must be there.
    static func makeFolder(_ path: String, within top: String? = nil) throws {
        guard path != top || status(path) == nil else { return }
        guard path != top else { throw failure(path, "the folder is no longer there", ENOENT) }
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let parent = folder(of: path) else { throw failure(path, "the folder can't be made") }
        try makeFolder(parent, within: top)
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw failure(path, "the folder can't be made") }
        try syncFolder(parent)
    }

    /// Returns the folder of a path; nil for a root.
    static func folder(of path: String) -> String? {
        guard let slash = path.lastIndex(of: "/") else { return path.isEmpty ? nil : "." }
        return slash == path.startIndex ? (path.count > 1 ? "/" : nil) : String(path[..<slash])
    }

    /// Writes a file beside its destination, syncs it, and renames it. With `isNew`, an existing file is an error with
    /// `EEXIST`, which returns false.
    static func publish(_ bytes: [UInt8], as path: String, partial: String, isNew: Bool = false) throws -> Bool {
        let descriptor = try open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        do {
            try bytes.withUnsafeBytes { try write(descriptor, $0, at: 0, partial) }
            try sync(descriptor, partial)
            close(descriptor)
        } catch {
            close(descriptor)
            unlink(partial)
            throw error
        }
        guard isNew else {
            guard rename(partial, path) == 0 else { throw failure(path, "it can't be renamed") }
            try syncFolder(folder(of: path) ?? ".")
            return true
        }
        let linked = link(partial, path) == 0, number = errno
        unlink(partial)
        guard linked || number == EEXIST else { throw failure(path, "it can't be named", number) }
        try syncFolder(folder(of: path) ?? ".")
        return linked
    }

    /// Returns the names in a folder; none if there is no folder.
    static func names(in path: String) throws -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw failure(path, "the folder can't be read")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}

private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

/// The time in milliseconds since 1970.
func currentMilliseconds() -> Int64 {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
}
