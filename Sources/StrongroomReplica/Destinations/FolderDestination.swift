/// A destination that is a folder.
final class FolderDestination: Destination {
    let name: String
    let identity: String
    private let root: String

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

    func put(_ name: String, _ bytes: [UInt8]) throws {
        try reporting {
            let path = path(name), folder = Files.folder(of: path)!
            try Files.makeFolder(folder)
            let partial = folder + "/.partial-\(getpid())-\(UInt(bitPattern: ObjectIdentifier(self).hashValue))"
            _ = try Files.publish(bytes, as: path, partial: partial)
        }
    }

    func get(_ name: String) throws -> [UInt8]? { try reporting { try Files.read(path(name)) } }

    func list(_ prefix: String, after: String?) throws -> [StoredObject] {
        try reporting {
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
            try Files.names(in: path(prefix)).filter { name in
                Files.status(path(prefix + name)).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
            }.sorted()
        }
    }

    func delete(_ names: [String]) throws {
        try reporting {
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
