import CStrongroom

/// The sidecars of a database that hold no pages: salts and key slots. None is secret.
struct Sidecars: Hashable, Sendable {
    enum Kind: UInt8, CaseIterable, Sendable {
        case salt = 1
        case nextSalt = 2
        case keys = 3
        case nextKeys = 4

        var suffix: String {
            switch self {
            case .salt: Companion.salt.rawValue
            case .nextSalt: Companion.nextSalt.rawValue
            case .keys: Companion.keys.rawValue
            case .nextKeys: Companion.nextKeys.rawValue
            }
        }
    }

    var contents: [Kind: [UInt8]] = [:]

    /// The greatest size of a sidecar.
    static let limit = 1 << 20

    static func read(_ database: String) throws -> Sidecars {
        var sidecars = Sidecars()
        for kind in Kind.allCases {
            let path = database + kind.suffix
            guard let bytes = try Files.read(path, limit: limit + 1) else { continue }
            guard bytes.count <= limit else {
                throw ReplicaError(.unreadable, path, "it is larger than a sidecar can be. Move it away.")
            }
            sidecars.contents[kind] = bytes
        }
        return sidecars
    }
}

/// The sidecars with what the system says about their files, so that unchanged ones are not read again.
struct SidecarWatch {
    private struct Stamp: Equatable {
        var inode: UInt64
        var size: Int64
        var modified: Int64
        var changed: Int64
    }

    private let database: String
    private let paths: [[CChar]]
    private var stamps: [Stamp?] = []
    private var readAt: Int64 = 0
    private(set) var sidecars = Sidecars()

    init(_ database: String) {
        self.database = database
        paths = Sidecars.Kind.allCases.map { (database + $0.suffix).utf8CString.map { $0 } }
    }

    private func look() -> [Stamp?] {
        paths.map { path in
            Files.status(path).map {
                Stamp(inode: UInt64($0.st_ino), size: Int64($0.st_size), modified: $0.modified, changed: $0.changed)
            }
        }
    }

    /// Returns the sidecars as they are.
    mutating func current() throws -> Sidecars {
        let now = look()
        let isSettled = stamps.allSatisfy { $0.map { Files.isSettled($0.changed, at: readAt) } ?? true }
        if now == stamps, isSettled { return sidecars }
        readAt = currentMilliseconds()
        sidecars = try Sidecars.read(database)
        stamps = now
        return sidecars
    }
}
