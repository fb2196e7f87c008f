/// A destination that is a folder. If it is absent after it was there, it is not made again: its disk is not mounted.
///
/// Sendable because one thread at a time uses a destination.
final class FolderDestination: Destination, @unchecked Sendable {
    let name: String
    let identity: String
    let canReturn = true
    private let root: String
    private var wasFound = false
    /// The last object that was stored. It tells the folder from an empty one below the mount point.
    private var stored: String?
    /// The folders in which the remains of killed processes were looked for.
    private var swept: Set<String> = []

    init(_ path: String) throws {
        guard !path.isEmpty else {
            throw ReplicaError(.invalidDestination, nil, "the destination has no name. Give a folder or s3://BUCKET.")
        }
        name = path
        root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
        identity = Self.absolute(root)
    }

    /// Returns the path with symbolic links resolved, as far as it exists.
    private static func absolute(_ path: String) -> String {
        if let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        guard let folder = Files.folder(of: path), folder != path else { return path }
        let last = path.split(separator: "/").last.map(String.init) ?? path
        return absolute(folder) + "/" + last
    }

    private func path(_ name: String) -> String { root + "/" + name }

    // MARK: Presence

    private func requirePresent() throws {
        if let found = Files.status(root) {
            guard found.st_mode & S_IFMT == S_IFDIR else {
                throw ReplicaError(.invalidDestination, name, "it is not a folder. Give a folder or s3://BUCKET.")
            }
            wasFound = true
        } else if wasFound {
            throw absent("it is no longer there")
        }
    }

    private func requireStored() throws {
        try requirePresent()
        guard let stored, Files.status(path(stored)) == nil else { return }
        throw absent("\(stored), which was stored there, is no longer in it")
    }

    private func absent(_ problem: String) -> ReplicaError {
        ReplicaError(.destinationUnavailable, name, "\(problem). Mount its disk: it is tried again.")
    }

    // MARK: Objects

    func put(_ name: String, _ bytes: [UInt8]) throws {
        try reporting {
            try requireStored()
            let path = path(name), folder = Files.folder(of: path)!
            try Files.makeFolder(folder, within: wasFound ? root : nil)
            if swept.insert(folder).inserted { removeRemains(in: folder) }
            let partial = folder + "/\(Self.partial)\(getpid())-\(UInt(bitPattern: ObjectIdentifier(self).hashValue))"
            _ = try Files.publish(bytes, as: path, partial: partial)
            // A disk can go at any time.
            try requireStored()
            stored = name
        }
    }

    private static let partial = ".partial-"

    /// Removes partial objects that were last written a day ago or earlier: their process was killed.
    private func removeRemains(in folder: String) {
        let yesterday = currentMilliseconds() * 1_000_000 - 86_400_000_000_000
        for name in (try? Files.names(in: folder)) ?? [] where name.hasPrefix(Self.partial) {
            let path = folder + "/" + name
            if let found = Files.status(path), found.modified < yesterday { unlink(path) }
        }
    }

    func get(_ name: String) throws -> [UInt8]? {
        try reporting {
            try requirePresent()
            return try Files.read(path(name))
        }
    }

    func list(_ prefix: String, after: String?) throws -> [StoredObject] {
        try reporting {
            try requirePresent()
            let (folder, start) = Self.split(prefix)
            return try Files.names(in: path(folder)).filter { $0.hasPrefix(start) && !$0.hasPrefix(".") }
                .map { folder + $0 }.filter { after == nil || $0 > after! }.sorted()
                .compactMap { name in
                    Files.status(path(name)).flatMap { found in
                        found.st_mode & S_IFMT == S_IFREG ? StoredObject(name: name, size: Int(found.st_size)) : nil
                    }
                }
        }
    }

    func folders(_ prefix: String) throws -> [String] {
        try reporting {
            try requirePresent()
            return try Files.names(in: path(prefix)).filter { name in
                Files.status(path(prefix + name)).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            }.sorted()
        }
    }

    func delete(_ names: [String]) throws {
        try reporting {
            try requirePresent()
            if let stored, names.contains(stored) { self.stored = nil }
            for name in names where unlink(path(name)) != 0 && errno != ENOENT {
                throw Files.failure(path(name), "it can't be removed")
            }
            for folder in Set(names.map { Self.split($0).folder }) where Files.status(path(folder)) != nil {
                try Files.syncFolder(path(folder))
            }
        }
    }

    func another() throws -> any Destination { try FolderDestination(name) }

    private static func split(_ name: String) -> (folder: String, rest: String) {
        guard let slash = name.lastIndex(of: "/") else { return ("", name) }
        return (String(name[...slash]), String(name[name.index(after: slash)...]))
    }

    /// A folder that is full or absent may come back: a mounted disk does.
    private func reporting<T>(_ body: () throws -> T) throws -> T {
        do {
            return try body()
        } catch let error as ReplicaError where error.reason == .system {
            throw ReplicaError(.destinationUnavailable, error.subject, error.message)
        }
    }
}
